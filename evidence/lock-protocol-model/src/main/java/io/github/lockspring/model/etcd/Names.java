package io.github.lockspring.model.etcd;

import java.util.Arrays;

/**
 * New names for the leases and revisions of a state, so that states which differ in names
 * only are one state: leases are numbered in the order in which they are found, of the
 * revisions of entries only the order counts, and of those of a guard only which is the
 * present one, or the one in the backup. First collects what there is, then renames it.
 * Not thread-safe.
 */
final class Names {

	/** The modification of a guard that is the present one, or that in the backup. */
	static final int PRESENT = 1;

	static final int BACKED_UP = 3;

	/** A modification of a guard that is neither. */
	static final int STALE = 2;

	/** The revision of the step that is being taken; larger than all others. */
	static final int NEW_REVISION = 100;

	private static final int LEASES = 16;

	/** Names from here on are no leases and stay as they are. */
	private static final int FIXED = 96;

	private final int[] leases = new int[Byte.MAX_VALUE];

	private final int[] numbers = new int[FIXED / LEASES];

	private final int[] revisions = new int[NEW_REVISION + 1];

	/** The present modification of each guard, by its name. */
	private final int[] guards = new int[Byte.MAX_VALUE];

	private final int[] backedUpGuards = new int[Byte.MAX_VALUE];

	private boolean collects;

	/** The lease that an instance has just been granted. */
	static int newLease(int instance) {
		return instance * LEASES + LEASES - 1;
	}

	static int fixed(int instance, LeaseKind kind) {
		return FIXED + instance * LeaseKind.ALL.length + kind.ordinal();
	}

	static int instance(int lease) {
		return lease / LEASES;
	}

	static String lease(String prefix, int lease) {
		return (lease == 0) ? "-" : prefix + World.name(instance(lease)) + lease % LEASES;
	}

	void collect() {
		Arrays.fill(this.leases, 0);
		Arrays.fill(this.numbers, 0);
		Arrays.fill(this.revisions, 0);
		Arrays.fill(this.guards, 0);
		Arrays.fill(this.backedUpGuards, 0);
		this.collects = true;
	}

	void rename() {
		int next = 0;
		for (int revision = 1; revision < this.revisions.length; revision++) {
			if (this.revisions[revision] != 0) {
				this.revisions[revision] = ++next;
			}
		}
		this.collects = false;
	}

	int lease(int lease) {
		if (lease == 0 || lease >= FIXED) {
			return lease;
		}
		if (this.leases[lease] == 0) {
			int instance = instance(lease);
			this.leases[lease] = instance * LEASES + ++this.numbers[instance];
		}
		return this.collects ? lease : this.leases[lease];
	}

	/** Whether a lease has been found. */
	boolean knows(int lease) {
		return this.leases[lease] != 0;
	}

	int revision(int revision) {
		if (this.collects && revision != 0) {
			this.revisions[revision] = 1;
		}
		return this.collects ? revision : this.revisions[revision];
	}

	void presentGuard(int name, int modified) {
		this.guards[name] = modified;
	}

	void backedUpGuard(int name, int modified) {
		this.backedUpGuards[name] = modified;
	}

	int guard(int name, int modified) {
		if (this.collects || modified == 0) {
			return modified;
		}
		if (this.guards[name] == modified) {
			return PRESENT;
		}
		return (this.backedUpGuards[name] == modified) ? BACKED_UP : STALE;
	}

}
