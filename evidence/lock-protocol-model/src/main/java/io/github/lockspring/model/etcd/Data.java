package io.github.lockspring.model.etcd;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.function.Predicate;

import io.github.lockspring.model.Cells;

/**
 * What is stored: leases, their guards, and the entries of all locks. Not thread-safe.
 */
final class Data {

	private List<Lease> leases = new ArrayList<>();

	private List<Guard> guards = new ArrayList<>();

	/** In the order of their creation. */
	private List<Entry> entries = new ArrayList<>();

	void pass(Cells cells) {
		this.leases = cells.pass(this.leases, (passed, lease) -> lease.pass(passed), Lease.NONE);
		this.guards = cells.pass(this.guards, (passed, guard) -> guard.pass(passed), Guard.NONE);
		this.entries = cells.pass(this.entries, (passed, entry) -> entry.pass(passed), Entry.NONE);
	}

	/** A server that starts with these data gives each lease its full length. */
	Data backup() {
		Data copy = new Data();
		this.leases.forEach((lease) -> copy.leases.add(lease.renewed()));
		copy.guards.addAll(this.guards);
		copy.entries.addAll(this.entries);
		return copy;
	}

	void rename(Names names) {
		this.entries.replaceAll((entry) -> entry.renamed(names));
	}

	void renameLeases(Names names) {
		this.leases.replaceAll((lease) -> lease.renamed(names));
		this.guards.replaceAll((guard) -> guard.renamed(names));
	}

	/** Forgets leases that nobody will name. */
	void forgetLeases(IntPredicate which) {
		this.leases.removeIf((lease) -> which.test(lease.id()));
		this.guards.removeIf((guard) -> which.test(guard.lease()));
	}

	// leases

	List<Lease> leases() {
		return this.leases;
	}

	boolean hasLease(int id) {
		return this.leases.stream().anyMatch((lease) -> lease.id() == id);
	}

	void addLease(int id, int ttl) {
		this.leases.add(new Lease(id, ttl, ttl));
	}

	void renewLease(int id) {
		this.leases.replaceAll((lease) -> (lease.id() == id) ? lease.renewed() : lease);
	}

	/** Removes a lease and its guard, but not its entries. */
	void removeLease(int id) {
		this.leases.removeIf((lease) -> lease.id() == id);
		this.guards.removeIf((guard) -> guard.lease() == id);
	}

	void tick() {
		this.leases.replaceAll(Lease::older);
	}

	// guards

	List<Guard> guards() {
		return this.guards;
	}

	Guard guard(int name) {
		return this.guards.stream().filter((guard) -> guard.name() == name).findFirst().orElse(Guard.NONE);
	}

	Guard putGuard(int name, int lease) {
		Guard guard = new Guard(name, lease, Names.NEW_REVISION);
		this.guards.removeIf((other) -> other.name() == name);
		this.guards.add(guard);
		return guard;
	}

	// entries

	List<Entry> entries() {
		return this.entries;
	}

	Entry entry(int instance, int lock) {
		return this.entries.stream()
			.filter((entry) -> entry.instance() == instance && entry.lock() == lock)
			.findFirst()
			.orElse(Entry.NONE);
	}

	/** Returns the entry before another one in the queue of its lock. */
	Entry before(Entry present) {
		Entry before = Entry.NONE;
		for (Entry entry : this.entries) {
			if (entry.equals(present)) {
				break;
			}
			if (entry.lock() == present.lock()) {
				before = entry;
			}
		}
		return before;
	}

	void add(Entry entry) {
		this.entries.add(entry);
	}

	void replace(Entry entry, Entry by) {
		this.entries.replaceAll((other) -> other.equals(entry) ? by : other);
	}

	/** Removes entries, and returns them. */
	List<Entry> remove(Predicate<Entry> which) {
		List<Entry> removed = this.entries.stream().filter(which).toList();
		this.entries.removeAll(removed);
		return removed;
	}

	@Override
	public String toString() {
		return "queue " + this.entries + ", leases " + this.leases;
	}

}
