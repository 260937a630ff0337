package io.github.lockspring.store.queue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.AcquireRequest;
import io.github.lockspring.store.AcquireRequest.QueueMode;
import io.github.lockspring.store.AcquireResult;
import io.github.lockspring.store.AcquireResult.Acquired;
import io.github.lockspring.store.AcquireResult.Busy;
import io.github.lockspring.store.InboxListener;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.ReleaseRequest;
import io.github.lockspring.store.RenewResult;
import io.github.lockspring.store.StoreTraits;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What a server that fails a single request leaves behind, which no real one does on
 * demand.
 */
class QueueLockStoreTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(20);

	private static final Duration TTL = Duration.ofMinutes(10);

	private static final String HOLDER = "queue-store-tests-0001";

	private static final String WAITER = "queue-store-tests-0002";

	private final MemoryServer server = new MemoryServer();

	private final QueueLockStore store = new QueueLockStore("memory", this.server) {
	};

	private AcquireResult acquire(OwnerToken token, QueueMode mode) {
		return this.store.acquire(new AcquireRequest("key", token, TTL, mode), TIMEOUT);
	}

	@Test
	void watchThatFailedIsBegunAgainByTheNextAttempt() {
		OwnerToken holder = new OwnerToken(HOLDER, 1, 5000);
		OwnerToken waiter = new OwnerToken(WAITER, 1, 5000);
		AtomicReference<OwnerToken> granted = new AtomicReference<>();
		this.store.inbox(WAITER, new InboxListener() {

			@Override
			public void granted(String key, OwnerToken token, long fencingToken, boolean othersWait) {
				granted.set(token);
			}

			@Override
			public void wanted(String key, OwnerToken token) {
				// the holder's
			}

			@Override
			public void opened() {
				// it is from the beginning
			}

		});
		assertThat(acquire(holder, QueueMode.JOIN)).isInstanceOf(Acquired.class);
		this.server.failingWatches.set(1);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> acquire(waiter, QueueMode.JOIN));
		assertThat(acquire(waiter, QueueMode.REJOIN)).isInstanceOf(Busy.class);
		this.store.release(new ReleaseRequest("key", holder), TIMEOUT);
		assertThat(granted.get()).isEqualTo(waiter);
		this.store.release(new ReleaseRequest("key", waiter), TIMEOUT);
		assertThat(this.server.entries).isEmpty();
		this.store.close();
	}

	/** Entries of this process, kept for ever. */
	private static final class MemoryServer implements EntryServer {

		final List<MemoryEntry> entries = new CopyOnWriteArrayList<>();

		final AtomicInteger failingWatches = new AtomicInteger();

		private final AtomicInteger order = new AtomicInteger();

		@Override
		public StoreTraits traits() {
			return new StoreTraits(Duration.ofMillis(1), Duration.ofMillis(1), null, StoreTraits.Waiting.NOTIFIED_QUEUE,
					null);
		}

		@Override
		public void connect() {
		}

		@Override
		public void awaitConnection() {
		}

		@Override
		public CompletionStage<Added> add(String key, OwnerToken token, boolean repeated, long ttlMillis, String text) {
			MemoryEntry entry = this.entries.stream()
				.filter((each) -> each.token.equals(token.toString()))
				.findFirst()
				.orElseGet(() -> new MemoryEntry(token.toString(), this.order.incrementAndGet(), text));
			if (!this.entries.contains(entry)) {
				this.entries.add(entry);
			}
			return done(new Added(entry, sorted()));
		}

		private List<MemoryEntry> sorted() {
			List<MemoryEntry> sorted = new ArrayList<>(this.entries);
			sorted.sort(Comparator.comparingLong(MemoryEntry::order));
			return sorted;
		}

		@Override
		public CompletionStage<List<? extends Entry>> list(String key) {
			return done(sorted());
		}

		@Override
		public CompletionStage<Entry.@Nullable Own> find(String key, OwnerToken token) {
			return done(this.entries.stream()
				.filter((each) -> each.token.equals(token.toString()))
				.findFirst()
				.orElse(null));
		}

		@Override
		public CompletionStage<Optional<Entry.Content>> read(Entry entry) {
			MemoryEntry found = (MemoryEntry) entry;
			return done(this.entries.contains(found)
					? Optional.of(Entry.Content.parse(found.order, found.text, Duration.ZERO)) : Optional.empty());
		}

		@Override
		public CompletionStage<Optional<Entry.Content>> watch(Entry entry, Entry.Own waiter, Runnable gone) {
			if (this.failingWatches.getAndDecrement() > 0) {
				return CompletableFuture.failedFuture(new LockUnavailableException("no answer"));
			}
			((MemoryEntry) entry).gone.add(gone);
			return read(entry);
		}

		@Override
		public CompletionStage<Boolean> write(Entry.Own entry, String text, long ttlMillis) {
			return done(this.entries.contains((MemoryEntry) entry));
		}

		@Override
		public CompletionStage<Boolean> remove(Entry entry) {
			boolean there = this.entries.remove((MemoryEntry) entry);
			((MemoryEntry) entry).gone.forEach(Runnable::run);
			return done(there);
		}

		@Override
		public CompletionStage<List<RenewResult>> renew(List<Renewal> renewals) {
			return done(renewals.stream().map((renewal) -> RenewResult.RENEWED).toList());
		}

		@Override
		public boolean isRenewedWhileConnected() {
			return true;
		}

		@Override
		public CompletionStage<Void> ping() {
			return CompletableFuture.completedFuture(null);
		}

		@Override
		public void onConnectionChange(Runnable listener) {
		}

		@Override
		public void close() {
		}

		private static <T> CompletionStage<T> done(T value) {
			return CompletableFuture.completedFuture(value);
		}

	}

	/** An entry that lasts until it is removed. */
	private static final class MemoryEntry implements Entry.Own {

		final String token;

		final long order;

		final String text;

		final List<Runnable> gone = new CopyOnWriteArrayList<>();

		MemoryEntry(String token, long order, String text) {
			this.token = token;
			this.order = order;
			this.text = text;
		}

		@Override
		public String token() {
			return this.token;
		}

		@Override
		public String id() {
			return this.token;
		}

		@Override
		public long order() {
			return this.order;
		}

		@Override
		public long validUntil() {
			return System.nanoTime() + TTL.toNanos();
		}

		@Override
		public boolean isOver() {
			return false;
		}

	}

}
