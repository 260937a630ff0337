package io.github.lockspring.store.memory;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult.Acquired;
import io.github.lockspring.store.LockStore.AcquireResult.Busy;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.testsupport.store.AbstractQueueingLockStoreTests;
import io.github.lockspring.testsupport.store.RecordingListener;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

class MemoryLockStoreTests extends AbstractQueueingLockStoreTests {

	private final AtomicLong advance = new AtomicLong();

	@Override
	protected LockStore createStore() {
		return new MemoryLockStore(() -> System.nanoTime() + this.advance.get());
	}

	@Override
	protected void loseEverything() {
		this.advance.addAndGet(Duration.ofHours(1).toNanos());
	}

	@Override
	protected long remainingMillis(String key) {
		return ((MemoryLockStore) this.store).remainingMillis(key);
	}

	@Override
	protected int leftovers() {
		return ((MemoryLockStore) this.store).size();
	}

	@Test
	void leaseEndsByTheInjectedClockAlone() {
		AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 5);
		MemoryLockStore store = new MemoryLockStore(clock::get);
		AcquireRequest request = new AcquireRequest("k", token(), Duration.ofMillis(100), false);
		AcquireRequest other = new AcquireRequest("k", token(), Duration.ofMillis(100), false);
		assertThat(store.acquire(request, TIMEOUT)).isCompletedWithValueMatching(Acquired.class::isInstance);
		clock.addAndGet(Duration.ofMillis(100).toNanos() - 1);
		assertThat(store.acquire(other, TIMEOUT)).isCompletedWithValueMatching(Busy.class::isInstance);
		clock.addAndGet(1);
		assertThat(store.acquire(other, TIMEOUT)).isCompletedWithValueMatching(Acquired.class::isInstance);
	}

	@Test
	void tokenWithAShortGrantHasItsTurnASecondLater() {
		RecordingListener listener = openInbox(instance('1'));
		OwnerToken holder = token();
		acquire(holder, LONG);
		OwnerToken withoutMessages = new OwnerToken(instance('2'), 1, OwnerToken.SHORT_GRANT_MILLIS);
		queue(withoutMessages);
		this.advance.addAndGet(Duration.ofMillis(900).toNanos());
		OwnerToken earlier = new OwnerToken(instance('1'), 1, 5000);
		queue(earlier);
		this.advance.addAndGet(Duration.ofMillis(200).toNanos());
		OwnerToken later = new OwnerToken(instance('1'), 2, 5000);
		queue(later);
		release(holder);
		awaitGrant(listener, earlier, true);
		release(earlier);
		assertThat(queue(withoutMessages)).isInstanceOf(Acquired.class);
		release(withoutMessages);
		assertThat(queue(later)).isInstanceOf(Acquired.class);
	}

	@Test
	void leasesThatRanOutAreRemovedWithoutBeingTouched() {
		AtomicLong clock = new AtomicLong();
		MemoryLockStore store = new MemoryLockStore(clock::get);
		OwnerToken token = token();
		for (int i = 0; i < 100_000; i++) {
			store.acquire(new AcquireRequest("k" + i, token, Duration.ofMillis(100), true), TIMEOUT);
			clock.addAndGet(Duration.ofMillis(10).toNanos());
		}
		assertThat(store.size()).isLessThan(100);
	}

	@Test
	void waitersOfInstancesThatHaveGoneAreForgotten() {
		AtomicLong clock = new AtomicLong();
		MemoryLockStore store = new MemoryLockStore(clock::get);
		OwnerToken holder = token();
		store.acquire(new AcquireRequest("k", holder, LONG, false), TIMEOUT);
		store.acquire(new AcquireRequest("k", token(), LONG, true), TIMEOUT);
		store.release(new ReleaseRequest("other", holder), TIMEOUT);
		clock.addAndGet(Duration.ofSeconds(61).toNanos());
		store.release(new ReleaseRequest("k", holder), TIMEOUT);
		assertThat(store.size()).isZero();
	}

	@Test
	void messageThreadEndsWhenThereIsNothingToSay() {
		openInbox(instance('7'));
		await().until(() -> Thread.getAllStackTraces()
			.keySet()
			.stream()
			.noneMatch((thread) -> thread.getName().equals("lock-memory-messages")));
	}

}
