package io.github.lockspring.etcd;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.github.lockspring.etcd.LeasePool.Lease;
import io.github.lockspring.internal.queue.Entry;
import org.jspecify.annotations.Nullable;

/**
 * A key in the queue of a lock.
 *
 * @param name the key
 * @param token its owner token
 * @param order the revision of its creation
 * @param lease its lease
 */
record EtcdEntry(ByteSequence name, String token, long order, long lease) implements Entry {

	static final long NO_LEASE = 0;

	/* The value: the token, the content, and the time of writing */

	private static final String AFTER_TOKEN = " ";

	private static final String TIME = " @";

	static String value(String token, String text) {
		return token + AFTER_TOKEN + text + TIME + System.currentTimeMillis();
	}

	static EtcdEntry of(KeyValue found) {
		return new EtcdEntry(found.getKey(), text(found).split(AFTER_TOKEN, 2)[0], found.getCreateRevision(),
				found.getLease());
	}

	/** Compares two clocks for the age, which is only informative. */
	static Content content(KeyValue found) {
		String value = text(found);
		int start = value.indexOf(AFTER_TOKEN) + 1;
		int time = value.lastIndexOf(TIME);
		int end = (time >= start) ? time : value.length();
		String written = (time >= start) ? value.substring(time + TIME.length()) : "";
		Duration age = written.matches("\\d{1,18}")
				? Duration.ofMillis(Math.max(0, System.currentTimeMillis() - Long.parseLong(written))) : null;
		return Content.parse(found.getCreateRevision(), value.substring(start, end), age);
	}

	private static String text(KeyValue found) {
		return found.getValue().toString(StandardCharsets.UTF_8);
	}

	@Override
	public String id() {
		// a key that is created again is another entry
		return this.order + " " + this.name;
	}

	/**
	 * A key of this process. Thread-safe.
	 */
	static final class Mine implements Entry.Own {

		private final EtcdEntry created;

		private volatile Lease lease;

		private final CompletableFuture<@Nullable Void> over = new CompletableFuture<>();

		Mine(EtcdEntry created) {
			this.created = created;
			this.lease = new Lease(created.lease(), 0, System.nanoTime());
		}

		/**
		 * Records that a request sent at the given time has renewed the lease.
		 */
		synchronized void renewed(long sent) {
			long seconds = this.lease.seconds();
			this.lease = new Lease(this.lease.id(), seconds, sent + TimeUnit.SECONDS.toNanos(seconds));
		}

		/**
		 * Replaces the lease.
		 * @return false if the former lease has been replaced or taken in the meantime
		 */
		synchronized boolean replaceLease(long before, Lease next) {
			if (this.lease.id() != before) {
				return false;
			}
			this.lease = next;
			return true;
		}

		/**
		 * Takes the lease away before the key is deleted. Only the caller may then revoke
		 * it or use it for another key.
		 */
		synchronized Lease takeLease() {
			Lease taken = this.lease;
			this.lease = new Lease(NO_LEASE, taken.seconds(), taken.validUntil());
			return taken;
		}

		void end() {
			this.over.complete(null);
		}

		void onEnd(Runnable action) {
			this.over.thenRun(action);
		}

		ByteSequence name() {
			return this.created.name();
		}

		long lease() {
			return this.lease.id();
		}

		long seconds() {
			return this.lease.seconds();
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
			return this.created.order();
		}

		@Override
		public long validUntil() {
			return this.lease.validUntil();
		}

		@Override
		public boolean isOver() {
			return this.over.isDone();
		}

	}

}
