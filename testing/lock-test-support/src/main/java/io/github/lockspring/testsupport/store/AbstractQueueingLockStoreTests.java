package io.github.lockspring.testsupport.store;

import java.util.ArrayList;
import java.util.List;

import io.github.lockspring.store.Inbox;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult.Acquired;
import io.github.lockspring.store.LockStore.AcquireResult.Busy;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.testsupport.store.RecordingListener.Grant;
import io.github.lockspring.testsupport.store.RecordingListener.Wanted;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The contract of a {@link io.github.lockspring.store.LockStore} that has a queue of
 * waiters and an {@link Inbox} for each instance: that of {@link AbstractLockStoreTests},
 * in what order locks are handed over, and which messages are sent. Extend this class to
 * test a store of your own, with the same methods to implement.
 *
 * @since 0.1
 */
public abstract class AbstractQueueingLockStoreTests extends AbstractLockStoreTests {

	private final List<Inbox> inboxes = new ArrayList<>();

	/**
	 * Returns whether the queue consists of entries of the waiters, as a
	 * {@link io.github.lockspring.internal.queue.QueueLockStore} has them. Then a waiter
	 * also gets the lock, and a message, when the lease of its owner ends; others see the
	 * owner's ttl, not the grant, until the owner has taken the lock; and an inbox
	 * receives messages before it was opened.
	 */
	protected boolean hasEntries() {
		return false;
	}

	/**
	 * Returns whether a hand-over skips waiters whose inbox is not open. If not, such a
	 * waiter gets the lock for the grant in its token, at most 9.999 s.
	 */
	protected boolean knowsSubscribers() {
		return !hasEntries();
	}

	/**
	 * Returns whether the store notifies an owner of each attempt of another instance,
	 * and whether a grant tells if others wait. If not, the store assumes waiters at each
	 * acquisition and each grant.
	 */
	protected boolean knowsWaiters() {
		return !hasEntries();
	}

	private long shownAtMost(long grantMillis) {
		return hasEntries() ? LONG.toMillis() : grantMillis;
	}

	@AfterEach
	void closeInboxes() {
		this.inboxes.forEach(Inbox::close);
	}

	@Test
	void lockIsHandedOverInTheOrderOfTheQueueWithTheGrantsOwnTtl() {
		RecordingListener second = openInbox(instance('2'));
		RecordingListener third = openInbox(instance('3'));
		OwnerToken holder = holder();
		OwnerToken waitsFirst = new OwnerToken(instance('3'), 1, 5000);
		OwnerToken waitsSecond = new OwnerToken(instance('2'), 1, 700);
		long seen = ((Busy) queue(waitsFirst)).lastFencingToken();
		queue(waitsSecond);
		assertThat(queue(waitsFirst)).as("keeps its place").isInstanceOf(Busy.class);
		release(holder);
		long fencingToken = awaitGrant(third, waitsFirst, true);
		assertThat(fencingToken).isGreaterThan(seen);
		assertThat(remainingMillis(this.key)).isBetween(1L, shownAtMost(5000));
		assertThat(renew(waitsFirst, LONG)).as("it owns the lock").containsExactly(RenewResult.RENEWED);
		release(waitsFirst);
		assertThat(awaitGrant(second, waitsSecond, false)).isGreaterThan(fencingToken);
		assertThat(remainingMillis(this.key)).isLessThanOrEqualTo(shownAtMost(700));
		release(waitsSecond);
		assertThat(remainingMillis(this.key)).isNotPositive();
		assertThat(leftovers()).isZero();
	}

	@Test
	void attemptAfterAGrantThatWasNotNoticedFindsTheLockForItsFullTtl() {
		openInbox(instance('2'));
		OwnerToken holder = holder();
		OwnerToken waiter = queued('2', 5000);
		release(holder);
		// a store that watches the owner may answer before it knows
		await().until(() -> queue(waiter) instanceof Acquired);
		assertThat(remainingMillis(this.key)).isGreaterThan(LONG.toMillis() - 5000);
	}

	@Test
	@Tag("h35")
	void waiterThatFindsTheLockFreeLeavesTheQueue() {
		RecordingListener listener = openInbox(instance('2'));
		acquire(token(), BRIEF);
		OwnerToken waiter = new OwnerToken(instance('2'), 1, 1000);
		queue(waiter);
		await().until(() -> queue(waiter) instanceof Acquired);
		release(waiter);
		assertThat(remainingMillis(this.key)).isNotPositive();
		assertThat(listener.grants).hasSizeLessThanOrEqualTo(hasEntries() ? 1 : 0);
		assertThat(leftovers()).isZero();
	}

	@Test
	void f23WaiterThatCannotBeNotifiedIsSkipped() {
		RecordingListener listener = openInbox(instance('3'));
		OwnerToken holder = holder();
		queued('2', 1000);
		OwnerToken alive = queued('3', 1000);
		release(holder);
		if (!knowsSubscribers()) {
			await().until(() -> queue(alive) instanceof Acquired);
			return;
		}
		awaitGrant(listener, alive, false);
	}

	@Test
	void tokenWithAShortGrantNeedsNoMessageAndFindsTheLock() {
		OwnerToken holder = holder();
		OwnerToken waiter = new OwnerToken(instance('2'), 1, OwnerToken.SHORT_GRANT_MILLIS);
		assertThat(queue(waiter)).isInstanceOf(Busy.class);
		assertThat(queue(waiter)).isInstanceOf(Busy.class);
		release(holder);
		assertThat(remainingMillis(this.key)).isLessThanOrEqualTo(shownAtMost(OwnerToken.SHORT_GRANT_MILLIS));
		Acquired acquired = (Acquired) await().until(() -> queue(waiter), Acquired.class::isInstance);
		assertThat(remainingMillis(this.key)).as("the full ttl").isGreaterThan(LONG.toMillis() - 5000);
		assertThat(acquired.fencingToken()).isPositive();
		release(waiter);
		assertThat(remainingMillis(this.key)).isNotPositive();
		assertThat(leftovers()).isZero();
	}

	@Test
	void attemptWithoutTheQueueChangesNoPlaceInIt() {
		RecordingListener listener = openInbox(instance('2'));
		OwnerToken holder = holder();
		OwnerToken waiter = queued('2', 5000);
		acquire(token(), LONG);
		release(holder);
		awaitGrant(listener, waiter, false);
		release(waiter);
		assertThat(leftovers()).isZero();
	}

	@Test
	@Tag("h36")
	void lockIsFreeWhenNoWaiterCanBeNotified() {
		OwnerToken holder = holder();
		for (int i = 0; i < 5; i++) {
			queue(new OwnerToken(instance('2'), i, 1000));
		}
		release(holder);
		if (!knowsSubscribers()) {
			assertThat(remainingMillis(this.key)).as("given to one of them for a moment")
				.isLessThanOrEqualTo(shownAtMost(1000));
			return;
		}
		assertThat(remainingMillis(this.key)).isNotPositive();
		assertThat(leftovers()).isZero();
	}

	@ParameterizedTest
	@ValueSource(ints = { 1000, OwnerToken.SHORT_GRANT_MILLIS })
	void ownerIsNotifiedAtEachAttemptThatItsLockIsWanted(int grantMillis) {
		RecordingListener listener = openInbox(instance('1'));
		OwnerToken holder = new OwnerToken(instance('1'), 1, 1000);
		acquire(holder, LONG);
		OwnerToken waiter = queued('2', grantMillis);
		queue(waiter);
		await().until(() -> listener.wanted.size() == (knowsWaiters() ? 2 : 1));
		assertThat(listener.wanted).containsOnly(new Wanted(this.key, holder));
		release(waiter);
		release(holder);
		assertThat(remainingMillis(this.key)).as("it has left the queue").isNotPositive();
		assertThat(leftovers()).isZero();
	}

	@Test
	@Tag("h35")
	void attemptThatDoesNotWaitLeavesNothingBehindAndNotifiesNoOwner() {
		RecordingListener listener = openInbox(instance('1'));
		OwnerToken holder = new OwnerToken(instance('1'), 1, 1000);
		acquire(holder, LONG);
		acquire(new OwnerToken(instance('2'), 1, 1000), LONG);
		release(holder);
		assertThat(leftovers()).isZero();
		assertThat(listener.wanted).hasSize(knowsWaiters() ? 0 : 1);
	}

	@Test
	void keptLockIsNotHandedOver() {
		RecordingListener listener = openInbox(instance('2'));
		OwnerToken holder = holder();
		OwnerToken waiter = queued('2', 1000);
		this.joined.release(new ReleaseRequest(this.key, holder, 0, LONG), TIMEOUT);
		assertThat(queue(waiter)).isInstanceOf(Busy.class);
		assertThat(listener.wanted).isEmpty();
		assertThat(listener.grants).isEmpty();
	}

	@Test
	void inboxIsConfirmedWhenItIsOpen() {
		RecordingListener listener = new RecordingListener();
		Inbox inbox = inbox(instance('1'), listener);
		assertThat(inbox.isConfirmed()).as("not yet opened").isEqualTo(hasEntries());
		inbox.open();
		await().until(inbox::isConfirmed);
		await().until(() -> listener.opened.get() >= (hasEntries() ? 0 : 1));
	}

	@Test
	void closedInboxReceivesNothingAndMayBeOpenedAgain() {
		RecordingListener listener = new RecordingListener();
		Inbox inbox = inbox(instance('2'), listener);
		inbox.open();
		await().until(inbox::isConfirmed);
		inbox.close();
		assertThat(inbox.isConfirmed()).isFalse();
		OwnerToken holder = holder();
		queued('2', 1000);
		release(holder);
		if (knowsSubscribers()) {
			assertThat(remainingMillis(this.key)).isNotPositive();
		}
		else {
			await().until(() -> remainingMillis(this.key) <= 0);
		}
		inbox.open();
		await().until(inbox::isConfirmed);
		OwnerToken next = holder();
		OwnerToken waiter = new OwnerToken(instance('2'), 2, 1000);
		queue(waiter);
		release(next);
		awaitGrant(listener, waiter, false);
	}

	/**
	 * Waits until an instance was told, for the first time, that it was granted the lock
	 * of this test. Override it if a store only announces that the lock may be taken.
	 * @param listener has received the messages of the instance
	 * @param token the waiter that is granted the lock
	 * @param othersWait whether the message has to say that more waiters are queued
	 * @return the fencing token that was granted
	 */
	protected long awaitGrant(RecordingListener listener, OwnerToken token, boolean othersWait) {
		await().until(() -> listener.grants.size() == 1);
		Grant grant = listener.grants.get(0);
		assertThat(grant).isEqualTo(new Grant(this.key, token, grant.fencingToken(), othersWait || !knowsWaiters()));
		return grant.fencingToken();
	}

	/**
	 * Returns the token of a waiter that finds the lock busy, the first of its instance.
	 */
	private OwnerToken queued(char name, int grantMillis) {
		OwnerToken waiter = new OwnerToken(instance(name), 1, grantMillis);
		assertThat(queue(waiter)).isInstanceOf(Busy.class);
		return waiter;
	}

	/** Asks for a lease of {@link #LONG}, and waits in the queue if the lock is busy. */
	protected final AcquireResult queue(OwnerToken token) {
		return this.joined.acquire(new AcquireRequest(this.key, token, LONG, true), TIMEOUT);
	}

	/** Opens the inbox of an instance and waits until it is confirmed. */
	protected final RecordingListener openInbox(String instance) {
		RecordingListener listener = new RecordingListener();
		Inbox inbox = inbox(instance, listener);
		inbox.open();
		await().until(inbox::isConfirmed);
		return listener;
	}

	/** Creates an inbox that is closed after the test. */
	protected final Inbox inbox(String instance, RecordingListener listener) {
		Inbox inbox = this.store.inbox(instance, listener).orElseThrow();
		this.inboxes.add(inbox);
		return inbox;
	}

}
