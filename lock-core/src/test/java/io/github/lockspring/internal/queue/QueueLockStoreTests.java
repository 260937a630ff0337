package io.github.lockspring.internal.queue;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.Stages;
import io.github.lockspring.store.Inbox;
import io.github.lockspring.store.InboxListener;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.AcquireResult.Acquired;
import io.github.lockspring.store.LockStore.AcquireResult.Busy;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.StoreTraits;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What a server that fails a single request leaves behind, which no real one does on
 * demand.
 */
class QueueLockStoreTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(20);

	private static final Duration TTL = Duration.ofMinutes(10);

	private static final String HOLDER = "queue-store-tests-0001";

	private static final String WAITER = "queue-store-tests-0002";

	private final AtomicLong offset = new AtomicLong();

	private final MemoryServer server = new MemoryServer();

	private final QueueLockStore store = new QueueLockStore("memory", this.server,
			() -> System.nanoTime() + this.offset.get());

	private final OwnerToken holder = new OwnerToken(HOLDER, 1, 5000);

	private final OwnerToken waiter = new OwnerToken(WAITER, 1, 5000);

	private final List<OwnerToken> granted = new CopyOnWriteArrayList<>();

	private final List<OwnerToken> wanted = new CopyOnWriteArrayList<>();

	private final AtomicInteger opened = new AtomicInteger();

	@AfterEach
	void close() {
		this.store.close();
	}

	private AcquireResult acquire(OwnerToken token) {
		return Stages.join(this.store.acquire(new AcquireRequest("key", token, TTL, true), TIMEOUT), TIMEOUT);
	}

	private void waitBehindTheHolder() {
		assertThat(acquire(this.holder)).isInstanceOf(Acquired.class);
		assertThat(acquire(this.waiter)).isInstanceOf(Busy.class);
	}

	private void release(OwnerToken token) {
		Stages.join(this.store.release(new ReleaseRequest("key", token), TIMEOUT), TIMEOUT);
	}

	private CompletionStage<List<RenewResult>> renew(OwnerToken token) {
		return this.store.renew(List.of(new RenewRequest("key", token, TTL)), TIMEOUT);
	}

	private List<String> tokens() {
		return this.server.entries.stream().map(MemoryEntry::token).toList();
	}

	private Inbox openInbox() {
		return this.store.inbox(WAITER, new InboxListener() {

			@Override
			public void granted(String key, OwnerToken token, long fencingToken, boolean othersWait) {
				QueueLockStoreTests.this.granted.add(token);
			}

			@Override
			public void wanted(String key, OwnerToken token) {
				QueueLockStoreTests.this.wanted.add(token);
			}

			@Override
			public void opened() {
				QueueLockStoreTests.this.opened.incrementAndGet();
			}

		}).orElseThrow();
	}

	@Test
	void watchThatFailedIsBegunAgainByTheNextAttempt() {
		openInbox();
		assertThat(acquire(this.holder)).isInstanceOf(Acquired.class);
		this.server.failing.put("watch", 1);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> acquire(this.waiter));
		assertThat(acquire(this.waiter)).isInstanceOf(Busy.class);
		release(this.holder);
		assertThat(this.granted).containsExactly(this.waiter);
		release(this.waiter);
		assertThat(this.server.entries).isEmpty();
	}

	@Test
	void watchOfAWaiterThatHasLeftTellsNothing() {
		openInbox();
		waitBehindTheHolder();
		release(this.waiter);
		release(this.holder);
		assertThat(this.wanted).isEmpty();
		assertThat(this.granted).isEmpty();
	}

	@Test
	void waiterWhoseReleaseFailedLeavesByItself() {
		waitBehindTheHolder();
		this.server.failing.put("remove", 2);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> release(this.waiter));
		assertThat(tokens()).contains(this.waiter.toString());
		await().atMost(TIMEOUT).until(() -> !tokens().contains(this.waiter.toString()));
		assertThat(tokens()).containsExactly(this.holder.toString());
	}

	@Test
	void entryThatNothingIsKnownOfIsRemovedAlsoWhenItsReleaseFails() {
		this.server.failing.put("add", 1);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> acquire(this.waiter));
		this.server.failing.put("settle", 2);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> release(this.waiter));
		assertThat(tokens()).containsExactly(this.waiter.toString());
		await().atMost(TIMEOUT).until(() -> tokens().isEmpty());
	}

	/** Number 2 of the entries' holes (E2): the removal may yet be executed. */
	@Test
	void entryIsNotUsedAgainAfterARemovalWithoutAResult() {
		waitBehindTheHolder();
		this.server.failing.put("remove", 1);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> release(this.waiter));
		release(this.holder);
		long before = this.server.order.get();
		assertThat(acquire(this.waiter)).isInstanceOf(Acquired.class);
		assertThat(this.server.order.get()).as("another entry").isEqualTo(before + 1);
		assertThat(tokens()).containsExactly(this.waiter.toString());
	}

	@Test
	void nextTokenSendsNothingUntilTheEntryOfTheOneBeforeIsGone() {
		OwnerToken next = new OwnerToken(WAITER, 2, 5000);
		waitBehindTheHolder();
		this.server.failing.put("remove", 2);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> release(this.waiter));
		this.server.sent.clear();
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> acquire(next));
		assertThat(this.server.sent).containsExactly("remove");
		assertThat(acquire(next)).isInstanceOf(Busy.class);
		assertThat(tokens()).containsExactly(this.holder.toString(), next.toString());
	}

	@Test
	void attemptThatIsNotNeededAnyMoreSendsNothing() {
		CompletableFuture<Boolean> answer = new CompletableFuture<>();
		assertThat(acquire(this.holder)).isInstanceOf(Acquired.class);
		this.server.removals = answer;
		this.store.release(new ReleaseRequest("key", this.holder), TIMEOUT);
		OwnerToken next = new OwnerToken(HOLDER, 2, 5000);
		CompletionStage<AcquireResult> late = this.store.acquire(new AcquireRequest("key", next, TTL, true),
				Duration.ZERO);
		this.server.sent.clear();
		answer.complete(true);
		assertThat(late).failsWithin(TIMEOUT)
			.withThrowableOfType(ExecutionException.class)
			.withMessageContaining("earlier request for lock 'key' in memory");
		assertThat(this.server.sent).isEmpty();
	}

	@Test
	void additionThatIsRefusedForGoodLeavesNothingToSettle() {
		this.server.failing.put("add for good", 1);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> acquire(this.waiter));
		this.server.sent.clear();
		release(this.waiter);
		assertThat(this.server.sent).containsExactly("first");
	}

	/** The place is used by a later token, which may own the lock. */
	@Test
	void attemptThatIsLateTakesNothingFromALaterToken() {
		OwnerToken later = new OwnerToken(HOLDER, 2, 5000);
		assertThat(acquire(later)).isInstanceOf(Acquired.class);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> acquire(this.holder));
		assertThat(tokens()).containsExactly(later.toString());
		assertThat(renew(later)).isCompletedWithValue(List.of(RenewResult.RENEWED));
	}

	/** The addition without an answer may be executed later. */
	@Test
	void additionWithoutAResultIsSettledAlsoIfTheEntryWasTakenAwaySince() {
		assertThat(acquire(this.holder)).isInstanceOf(Acquired.class);
		this.server.failing.put("add", 1);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> acquire(this.waiter));
		assertThat(acquire(this.waiter)).isInstanceOf(Busy.class);
		this.server.take(this.server.entries.get(1));
		this.offset.addAndGet(TimeUnit.SECONDS.toNanos(5));
		this.server.sent.clear();
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> acquire(this.waiter));
		assertThat(this.server.sent).as("a removal settles, too").containsExactly("position", "remove");
	}

	@Test
	void additionWithoutAResultIsSettledAlsoIfTheEntryToKeepWasTakenAway() {
		this.server.failing.put("add", 1);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> acquire(this.holder));
		assertThat(acquire(this.holder)).isInstanceOf(Acquired.class);
		this.server.take(this.server.entries.get(0));
		this.server.sent.clear();
		ReleaseRequest keeping = new ReleaseRequest("key", this.holder, 0, Duration.ofMillis(300));
		ReleaseResult result = Stages.join(this.store.release(keeping, TIMEOUT), TIMEOUT);
		assertThat(result).isInstanceOf(ReleaseResult.NotOwner.class);
		assertThat(this.server.sent).containsExactly("keep", "remove");
	}

	/** Its token may have been released before it was sent. */
	@Test
	void additionWithoutAResultThatNobodyRepeatsIsSettled() {
		this.server.failing.put("add", 1);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> acquire(this.waiter));
		assertThat(tokens()).containsExactly(this.waiter.toString());
		await().atMost(TIMEOUT).until(() -> tokens().isEmpty());
		assertThat(this.server.sent).containsSubsequence("settle", "remove");
	}

	private ReleaseResult keep(Duration keep) {
		return Stages.join(this.store.release(new ReleaseRequest("key", this.holder, 0, keep), TIMEOUT), TIMEOUT);
	}

	@Test
	void nextTokenDoesNotGetALockWhoseKeepHasNoResult() {
		OwnerToken next = new OwnerToken(HOLDER, 2, 5000);
		assertThat(acquire(this.holder)).isInstanceOf(Acquired.class);
		this.server.failing.put("keep", 1);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> keep(Duration.ofSeconds(4)));
		assertThat(acquire(next)).isInstanceOf(Busy.class);
		await().atMost(TIMEOUT).until(() -> this.server.sent.stream().filter("keep"::equals).count() == 2);
		assertThat(tokens()).as("it is repeated by itself").containsExactly(this.holder.toString());
		assertThat(keep(Duration.ofSeconds(2))).isInstanceOf(ReleaseResult.Released.class);
		await().atMost(TIMEOUT).until(() -> acquire(next) instanceof Acquired);
	}

	@Test
	void keepThatNeverHasAResultEndsWithItsTime() {
		assertThat(acquire(this.holder)).isInstanceOf(Acquired.class);
		this.server.failing.put("keep", Integer.MAX_VALUE);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> keep(Duration.ofSeconds(2)));
		await().atMost(TIMEOUT).until(() -> tokens().isEmpty());
	}

	@Test
	void keptLockThatWasTakenAwayIsFreeForItsInstanceToo() {
		OwnerToken next = new OwnerToken(HOLDER, 2, 5000);
		assertThat(acquire(this.holder)).isInstanceOf(Acquired.class);
		assertThat(keep(TTL)).isInstanceOf(ReleaseResult.Released.class);
		assertThat(acquire(next)).isInstanceOf(Busy.class);
		this.server.take(this.server.entries.get(0));
		assertThat(acquire(next)).isInstanceOf(Acquired.class);
		assertThat(tokens()).containsExactly(next.toString());
	}

	@Test
	void keptLockThatHasEndedWithItsSessionIsFree() {
		OwnerToken next = new OwnerToken(HOLDER, 2, 5000);
		assertThat(acquire(this.holder)).isInstanceOf(Acquired.class);
		assertThat(keep(TTL)).isInstanceOf(ReleaseResult.Released.class);
		this.server.entries.get(0).over.set(true);
		assertThat(acquire(next)).isInstanceOf(Acquired.class);
	}

	/** Something of it may be there, such as on a lease that is taken for gone. */
	@Test
	void whatIsLeftOfAnEntryThatIsOverIsRemovedBeforeTheNextOneIsAdded() {
		waitBehindTheHolder();
		this.server.entries.get(1).over.set(true);
		this.server.failing.put("remove", 1);
		this.server.sent.clear();
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> acquire(this.waiter));
		assertThat(this.server.sent).containsExactly("remove");
		assertThat(acquire(this.waiter)).isInstanceOf(Busy.class);
		assertThat(this.server.sent).startsWith("remove", "remove", "add for good", "add");
		assertThat(tokens()).containsExactly(this.holder.toString(), this.waiter.toString());
	}

	@Test
	void inboxAsksOnceAtATimeHoweverOftenTheConnectionChanges() {
		Inbox inbox = openInbox();
		CompletableFuture<Void> reply = new CompletableFuture<>();
		this.server.pings = reply;
		for (int i = 0; i < 10; i++) {
			this.server.connectionChange.run();
		}
		assertThat(this.server.sent).containsExactly("ping");
		this.server.pings = CompletableFuture.completedFuture(null);
		reply.complete(null);
		await().atMost(TIMEOUT).until(inbox::isConfirmed);
		assertThat(this.server.sent).as("the first reply was asked for before the last change")
			.containsExactly("ping", "ping");
	}

	/** Number 5 of the defects (E13). */
	@Test
	void holderWhoseEntryWasTakenAwayLearnsItAlsoIfNobodyOwnsTheLock() {
		long token = ((Acquired) acquire(this.holder)).fencingToken();
		this.server.take(this.server.entries.get(0));
		ReleaseResult result = Stages.join(this.store.release(new ReleaseRequest("key", this.holder), TIMEOUT),
				TIMEOUT);
		assertThat(((ReleaseResult.NotOwner) result).fencingToken())
			.isGreaterThan(token + OwnerToken.MAX_FENCING_TOKENS);
	}

	@Test
	void waiterWhoseEntryWasTakenAwayIsMadeToAskAgain() {
		openInbox();
		waitBehindTheHolder();
		this.server.take(this.server.entries.get(1));
		release(this.holder);
		assertThat(this.wanted).containsExactly(this.waiter);
		assertThat(acquire(this.waiter)).isInstanceOf(Acquired.class);
	}

	/** Number 34 of the defects: each waiter read the whole queue every second. */
	@Test
	void waiterReliesOnItsWatchUntilTheConnectionChanges() {
		waitBehindTheHolder();
		this.server.sent.clear();
		assertThat(acquire(this.waiter)).isInstanceOf(Busy.class);
		assertThat(this.server.sent).isEmpty();
		this.server.connectionChange.run();
		assertThat(acquire(this.waiter)).isInstanceOf(Busy.class);
		assertThat(this.server.sent).as("the watch may be at another server").containsExactly("position", "watch");
	}

	@Test
	void waiterAsksForItsPositionAgainAfterFiveSeconds() {
		waitBehindTheHolder();
		this.server.sent.clear();
		this.offset.addAndGet(TimeUnit.SECONDS.toNanos(5));
		assertThat(acquire(this.waiter)).isInstanceOf(Busy.class);
		assertThat(this.server.sent).containsExactly("position");
	}

	@Test
	void leaseIsNoLongerThanWhatIsProvenOfTheEntry() {
		openInbox();
		waitBehindTheHolder();
		this.server.entries.get(1).proven.set(TimeUnit.SECONDS.toNanos(4));
		release(this.holder);
		assertThat(this.wanted).as("a grant of five seconds is not proven").containsExactly(this.waiter);
		assertThat(((Acquired) acquire(this.waiter)).granted()).isBetween(Duration.ofSeconds(3), Duration.ofSeconds(5));
		assertThat(renew(this.waiter)).isCompletedWithValue(List.of(RenewResult.UNKNOWN));
		this.server.entries.get(0).proven.set(TTL.multipliedBy(2).toNanos());
		assertThat(renew(this.waiter)).isCompletedWithValue(List.of(RenewResult.RENEWED));
	}

	@Test
	void ownershipOfAnEntryThatIsNotProvenAnyMoreIsNotGranted() {
		waitBehindTheHolder();
		this.server.entries.get(1).proven.set(-TTL.toNanos());
		release(this.holder);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> acquire(this.waiter))
			.withMessageContaining("not proven that the entry of lock 'key' in memory");
		this.server.entries.get(0).proven.set(TTL.toNanos());
		assertThat(acquire(this.waiter)).isInstanceOf(Acquired.class);
	}

	@Test
	void renewalThatIsAnsweredLateDoesNotLengthenWhatIsKept() {
		assertThat(acquire(this.holder)).isInstanceOf(Acquired.class);
		CompletableFuture<Boolean> answer = new CompletableFuture<>();
		this.server.renewals = answer;
		CompletionStage<List<RenewResult>> renewed = renew(this.holder);
		this.store.release(new ReleaseRequest("key", this.holder, 0, Duration.ofMillis(300)), TIMEOUT);
		answer.complete(true);
		assertThat(renewed).isCompletedWithValue(List.of(RenewResult.NOT_OWNER));
		await().atMost(TIMEOUT).until(() -> tokens().isEmpty());
	}

	@Test
	void attemptBehindTheEndOfALeaseIsKnownToLaterRequests() {
		AcquireRequest request = new AcquireRequest("key", this.holder, Duration.ofMillis(300), true);
		CompletableFuture<Boolean> answer = new CompletableFuture<>();
		this.server.removals = answer;
		assertThat(this.store.acquire(request, TIMEOUT)).isCompletedWithValueMatching(Acquired.class::isInstance);
		await().atMost(TIMEOUT).until(() -> answer.getNumberOfDependents() > 0);
		CompletionStage<AcquireResult> again = this.store.acquire(request, TIMEOUT);
		this.server.removals = CompletableFuture.completedFuture(true);
		answer.complete(true);
		assertThat(again).isCompletedWithValueMatching(Acquired.class::isInstance);
		assertThat(renew(this.holder)).isCompletedWithValue(List.of(RenewResult.RENEWED));
		release(this.holder);
		assertThat(tokens()).isEmpty();
	}

	@Test
	void inboxIsConfirmedAgainWhenTheServerRepliesAfterAChangeOfTheConnection() {
		Inbox inbox = openInbox();
		assertThat(inbox.isConfirmed()).as("from the beginning").isTrue();
		this.server.pings = CompletableFuture.failedFuture(new LockUnavailableException("no connection"));
		this.server.connectionChange.run();
		assertThat(inbox.isConfirmed()).isFalse();
		this.server.pings = CompletableFuture.completedFuture(null);
		await().atMost(TIMEOUT).until(inbox::isConfirmed);
		await().atMost(TIMEOUT).until(() -> this.opened.get() == 1);
		this.server.connectionChange.run();
		assertThat(inbox.isConfirmed()).isTrue();
		assertThat(this.opened).hasValue(2);
	}

	@Test
	void failureOfTheClientIsThatOfAStore() {
		this.server.removals = CompletableFuture.failedFuture(new IllegalStateException("closed"));
		acquire(this.holder);
		assertThat(this.store.release(new ReleaseRequest("key", this.holder), TIMEOUT)).failsWithin(TIMEOUT)
			.withThrowableOfType(ExecutionException.class)
			.withCauseInstanceOf(LockUnavailableException.class)
			.withMessageContaining("closed");
	}

	/** Entries of this process, kept for ever. */
	private static final class MemoryServer implements EntryServer {

		/** In the order of their additions. */
		final List<MemoryEntry> entries = new CopyOnWriteArrayList<>();

		/** How many requests will fail; an addition is carried out and has no answer. */
		final Map<String, Integer> failing = new ConcurrentHashMap<>();

		/** All requests that were sent. */
		final List<String> sent = new CopyOnWriteArrayList<>();

		/** When renewals are answered. */
		volatile CompletableFuture<Boolean> renewals = CompletableFuture.completedFuture(true);

		/** When removals are carried out. */
		volatile CompletableFuture<Boolean> removals = CompletableFuture.completedFuture(true);

		/** When the server replies. */
		volatile CompletableFuture<Void> pings = CompletableFuture.completedFuture(null);

		volatile Runnable connectionChange = () -> {
		};

		private final AtomicInteger order = new AtomicInteger();

		@Override
		public StoreTraits traits() {
			return StoreTraits.exact();
		}

		@Override
		public CompletionStage<@Nullable Void> connected() {
			return CompletableFuture.completedFuture(null);
		}

		@Override
		public CompletionStage<Added> add(String key, OwnerToken token, long ttlMillis, boolean repeated) {
			if (fails("add for good")) {
				return CompletableFuture.failedFuture(new LockUnavailableException("refused", null, true));
			}
			MemoryEntry entry = entry(token).filter((found) -> repeated)
				.orElseGet(() -> new MemoryEntry(token.toString(), this.order.incrementAndGet(), ttlMillis,
						new CopyOnWriteArrayList<>(), new AtomicLong(TTL.toNanos()), new AtomicBoolean()));
			if (!this.entries.contains(entry)) {
				this.entries.add(entry);
			}
			return fails("add") ? failed() : done(new Added(entry, at(entry).orElseThrow()));
		}

		private Optional<Position> at(Entry.Own entry) {
			int index = this.entries.indexOf((MemoryEntry) entry);
			return (index < 0) ? Optional.empty() : Optional
				.of(new Position((index > 0) ? this.entries.get(index - 1) : null, this.entries.get(0).content()));
		}

		private Optional<MemoryEntry> entry(OwnerToken token) {
			return this.entries.stream().filter((each) -> each.token.equals(token.toString())).findFirst();
		}

		private boolean fails(String request) {
			this.sent.add(request);
			return this.failing.getOrDefault(request, 0) > 0 && this.failing.merge(request, -1, Integer::sum) >= 0;
		}

		@Override
		public CompletionStage<Entry.@Nullable Own> settle(String key, OwnerToken token) {
			return fails("settle") ? failed() : done(entry(token).orElse(null));
		}

		@Override
		public CompletionStage<Optional<Position>> position(Entry.Own entry) {
			return fails("position") ? failed() : done(at(entry));
		}

		@Override
		public CompletionStage<Optional<Entry.Content>> first(String key) {
			return fails("first") ? failed() : done(this.entries.stream().findFirst().map(MemoryEntry::content));
		}

		@Override
		public CompletionStage<Boolean> watch(Entry entry, Entry.Own waiter, Runnable gone) {
			if (fails("watch")) {
				return failed();
			}
			((MemoryEntry) entry).gone.add(gone);
			return done(this.entries.contains((MemoryEntry) entry));
		}

		@Override
		public CompletionStage<Boolean> keep(Entry.Own entry, long millis) {
			return fails("keep") ? failed() : done(this.entries.contains((MemoryEntry) entry));
		}

		@Override
		public CompletionStage<Boolean> remove(Entry.Own entry) {
			return fails("remove") ? failed() : this.removals.thenCompose((carriedOut) -> take(entry));
		}

		@Override
		public CompletionStage<Set<Entry.Own>> renew(List<Renewal> renewals) {
			this.sent.add("renew");
			return this.renewals
				.thenApply((answered) -> renewals.stream().map(Renewal::entry).collect(Collectors.toSet()));
		}

		@Override
		public CompletionStage<Void> ping() {
			this.sent.add("ping");
			return this.pings;
		}

		@Override
		public void onConnectionChange(Runnable listener) {
			this.connectionChange = listener;
		}

		@Override
		public CompletionStage<List<? extends Entry>> list(String key) {
			return done(List.copyOf(this.entries));
		}

		@Override
		public CompletionStage<Optional<Entry.Content>> read(Entry entry) {
			MemoryEntry found = (MemoryEntry) entry;
			return done(this.entries.contains(found) ? Optional.of(found.content()) : Optional.empty());
		}

		@Override
		public CompletionStage<Boolean> take(Entry entry) {
			boolean there = this.entries.remove((MemoryEntry) entry);
			((MemoryEntry) entry).gone.forEach(Runnable::run);
			return done(there);
		}

		@Override
		public void close() {
		}

		private static <T> CompletionStage<T> failed() {
			return CompletableFuture.failedFuture(new LockUnavailableException("no answer"));
		}

		private static <T> CompletionStage<T> done(T value) {
			return CompletableFuture.completedFuture(value);
		}

	}

	/**
	 * An entry that lasts until it is removed.
	 *
	 * @param proven for how long it is proven from now on
	 * @param over whether it is taken for gone
	 */
	private record MemoryEntry(String token, long order, long millis, List<Runnable> gone, AtomicLong proven,
			AtomicBoolean over) implements Entry.Own {

		Entry.Content content() {
			return new Entry.Content(this.order, this.millis, false, Duration.ZERO);
		}

		@Override
		public String id() {
			return this.token + " " + this.order;
		}

		@Override
		public long validUntil() {
			return System.nanoTime() + this.proven.get();
		}

		@Override
		public boolean isOver() {
			return this.over.get();
		}

	}

}
