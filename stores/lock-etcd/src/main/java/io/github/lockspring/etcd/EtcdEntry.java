package io.github.lockspring.etcd;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.github.lockspring.internal.queue.Entry;
import org.jspecify.annotations.Nullable;

/**
 * A key in the queue of a lock.
 *
 * @param name the key
 * @param token its owner token
 * @param revision the revision of its creation
 */
record EtcdEntry(ByteSequence name, String token, long revision) implements Entry {

	/* The value: the token, the content, and the time of writing */

	private static final String AFTER_TOKEN = " ";

	private static final String TIME = " @";

	/**
	 * Length of the lease of another client's key, such as that of {@code etcdctl lock}:
	 * unknown, but by default no more.
	 */
	private static final long FOREIGN_MILLIS = 60_000;

	static ByteSequence value(String token, long millis, boolean kept) {
		return ByteSequence.from(token + AFTER_TOKEN + Content.text(millis, kept) + TIME + System.currentTimeMillis(),
				StandardCharsets.UTF_8);
	}

	static EtcdEntry of(KeyValue found) {
		return new EtcdEntry(found.getKey(), text(found).split(AFTER_TOKEN, 2)[0], found.getCreateRevision());
	}

	/**
	 * Parses the content of a key. Compares two clocks for the age, which is only
	 * informative.
	 * @param floor added to the revision
	 */
	static Content content(KeyValue found, long floor) {
		String value = text(found);
		int start = value.indexOf(AFTER_TOKEN) + 1;
		int time = value.lastIndexOf(TIME);
		int end = (time >= start) ? time : value.length();
		String written = (time >= start) ? value.substring(time + TIME.length()) : "";
		Duration age = written.matches("\\d{1,18}")
				? Duration.ofMillis(Math.max(0, System.currentTimeMillis() - Long.parseLong(written))) : null;
		String content = value.substring(start, end);
		boolean foreign = start == 0 && found.getLease() != 0;
		return Content.parse(floor + found.getCreateRevision(), foreign ? Content.text(FOREIGN_MILLIS, false) : content,
				age);
	}

	private static String text(KeyValue found) {
		return found.getValue().toString(StandardCharsets.UTF_8);
	}

	@Override
	public String id() {
		// a key that is created again is another entry
		return this.revision + " " + this.name;
	}

	/**
	 * A key of this process. Thread-safe.
	 */
	/*
	 * For maintainers: normally the key is on one lease. From the sending of a raise
	 * until it is known to be carried out, it may be on either of two, so both count. The
	 * leases are those that the requests named, whichever are in use when the answers
	 * arrive.
	 */
	static final class Mine implements Entry.Own {

		private final EtcdEntry created;

		private final long order;

		/** The leases on which the key may be. The set is never changed, but replaced. */
		private volatile Set<EtcdLease> leases;

		/** The revision of the last modification that is known. */
		private volatile long modified;

		private volatile boolean beingRemoved;

		private volatile boolean beingKept;

		private final CompletableFuture<@Nullable Void> end = new CompletableFuture<>();

		Mine(EtcdEntry created, long floor, long modified, EtcdLease lease) {
			this.created = created;
			this.order = floor + created.revision();
			this.modified = modified;
			this.leases = Set.of(lease);
			lease.use(this);
		}

		Set<EtcdLease> leases() {
			return this.leases;
		}

		/** Returns the shortest length of a lease on which the key may be. */
		long seconds() {
			return this.leases.stream().mapToLong(EtcdLease::seconds).min().orElseThrow();
		}

		long modified() {
			return this.modified;
		}

		/** Adds a lease on which the key may be from now on. */
		synchronized void mayBeOn(EtcdLease next) {
			next.use(this);
			Set<EtcdLease> more = new HashSet<>(this.leases);
			more.add(next);
			this.leases = Set.copyOf(more);
			if (this.end.isDone()) {
				next.leave(this);
			}
		}

		/**
		 * Notes what was read of the name.
		 * @return false if the key is gone, or on a lease that nobody has given it
		 */
		boolean noteRead(@Nullable KeyValue found) {
			if (found == null || found.getCreateRevision() != revision()) {
				end();
				return false;
			}
			return noteLease(found.getLease(), found.getModRevision());
		}

		/**
		 * Notes the lease of the key after a modification.
		 * @return false if nobody has given it that lease
		 */
		synchronized boolean noteLease(long lease, long modification) {
			if (modification < this.modified) {
				// read before the last modification
				return true;
			}
			EtcdLease known = this.leases.stream().filter((each) -> each.id() == lease).findFirst().orElse(null);
			if (known == null) {
				return false;
			}
			if (modification > this.modified) {
				this.modified = modification;
				this.leases.stream().filter((each) -> each != known).forEach((each) -> each.leave(this));
				this.leases = Set.of(known);
			}
			return true;
		}

		/** From now on, only its removal is sent. */
		void beingRemoved() {
			this.beingRemoved = true;
		}

		boolean isBeingRemoved() {
			return this.beingRemoved;
		}

		/** From now on, it is not moved to another lease but by its keep. */
		void beingKept() {
			this.beingKept = true;
		}

		/** Returns whether the ownership is over. */
		boolean isEnding() {
			return this.beingRemoved || this.beingKept;
		}

		/** The key is gone. */
		void end() {
			this.end.complete(null);
			this.leases.forEach((lease) -> lease.leave(this));
		}

		void onEnd(Runnable action) {
			this.end.thenRun(action);
		}

		ByteSequence name() {
			return this.created.name();
		}

		long revision() {
			return this.created.revision();
		}

		@Override
		public String token() {
			return this.created.token();
		}

		@Override
		public String id() {
			return this.created.id();
		}

		@Override
		public long order() {
			return this.order;
		}

		@Override
		public long validUntil() {
			return this.leases.stream().map(EtcdLease::provenUntil).reduce(EtcdLease::earlier).orElseThrow();
		}

		@Override
		public boolean isOver() {
			return this.end.isDone() || this.leases.stream().anyMatch(EtcdLease::isLost);
		}

	}

}
