package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.LockStore.AcquireResult;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Futures that wait for a lock, over a scripted store. What completes them is in the
 * test's hand.
 */
class FutureWaiterTests extends EngineFixture {

	private final Queue<Runnable> deliveries = new ArrayDeque<>();

	private CompletableFuture<HeldLock> acquireAsync(LockRequest request) {
		return ((DefaultLockTemplate) this.engine.template()).acquireAsync(request, this.deliveries::add);
	}

	private void deliver() {
		Runnable delivery;
		while ((delivery = this.deliveries.poll()) != null) {
			delivery.run();
		}
	}

	@Test
	void futureIsCompletedWithTheLock() {
		CompletableFuture<HeldLock> future = acquireAsync(request());
		this.store.nextLook().acquired(7);
		assertThat(future).as("completed by the executor").isNotDone();
		deliver();
		assertThat(future.join().fencingToken()).isEqualTo(7);
		future.join().close();
		assertNothingLeft();
	}

	@Test
	void futuresAndThreadsHaveTheirTurnsInTheOrderOfArrival() {
		HeldLock first = held(request(), 10);
		CompletableFuture<HeldLock> second = acquireAsync(request());
		Running<HeldLock> third = waitingBehind(request());
		first.close();
		deliver();
		assertThat(second.join().fencingToken()).isEqualTo(11);
		assertThat(third.result()).isNotDone();
		second.join().close();
		assertThat(third.get().fencingToken()).isEqualTo(12);
	}

	@Test
	void cancelledFutureLeavesTheQueueAndItsTokenIsReleased() {
		CompletableFuture<HeldLock> future = acquireAsync(request());
		ScriptedStore.Asked look = this.store.nextLook();
		look.busy(TTL, 100);
		future.cancel(false);
		assertThat(this.store.releasedTokens()).containsExactly(look.token());
		assertNothingLeft();
	}

	@Test
	void lockWhoseDeliveryFindsItsFutureCancelledIsReleased() {
		CompletableFuture<HeldLock> future = acquireAsync(request());
		ScriptedStore.Asked look = this.store.nextLook();
		look.acquired(7);
		future.cancel(false);
		deliver();
		assertThat(this.store.releasedTokens()).containsExactly(look.token());
		assertNothingLeft();
	}

	@Test
	void futureFailsWhenItsTimeIsOver() {
		CompletableFuture<HeldLock> future = acquireAsync(request().waitTime(Duration.ofSeconds(3)));
		this.store.nextLook().busy(TTL, 100);
		advance(Duration.ofSeconds(3).minusNanos(1));
		deliver();
		assertThat(future).isNotDone();
		advance(Duration.ofNanos(1));
		deliver();
		assertThatExceptionOfType(CompletionException.class).isThrownBy(future::join)
			.withCauseInstanceOf(LockNotAcquiredException.class);
		assertNothingLeft();
	}

	@Test
	void futureOfOneAttemptFailsWithTheStore() {
		CompletableFuture<HeldLock> future = acquireAsync(request().waitTime(Duration.ZERO));
		this.store.nextLook().fails();
		deliver();
		assertThatExceptionOfType(CompletionException.class).isThrownBy(future::join)
			.withCauseInstanceOf(LockUnavailableException.class);
		assertNothingLeft();
	}

	@Test
	void futureThatWaitsForTheFirstConnectionCanBeCancelled() {
		CompletableFuture<Void> connecting = new CompletableFuture<>();
		this.store.onConnect = () -> connecting;
		CompletableFuture<HeldLock> future = acquireAsync(request());
		future.cancel(false);
		this.store.onAcquire = (request) -> new AcquireResult.Acquired(1);
		connecting.complete(null);
		deliver();
		assertThat(this.store.releasedTokens()).hasSameSizeAs(this.store.looks);
		assertNothingLeft();
	}

	@Test
	void executorThatRefusesEndsTheHoldAndNothingOfTheUserRunsInTheEvent() {
		this.eventThread = this.deliveries::add;
		CompletableFuture<HeldLock> future = ((DefaultLockTemplate) this.engine.template()).acquireAsync(request(),
				(task) -> {
					throw new RejectedExecutionException("shut down");
				});
		ScriptedStore.Asked look = this.store.nextLook();
		look.acquired(7);
		assertThat(this.store.releasedTokens()).containsExactly(look.token());
		assertThat(future).as("completed by the thread of listeners").isNotDone();
		deliver();
		assertThatExceptionOfType(CompletionException.class).isThrownBy(future::join)
			.withCauseInstanceOf(LockUnavailableException.class);
		assertNothingLeft();
	}

	@Test
	void manyFuturesOfOneKeyNeedNoThreadEach() {
		AtomicLong last = new AtomicLong();
		this.store.onAcquire = (request) -> new AcquireResult.Acquired(last.addAndGet(10_000));
		int threads = Thread.activeCount();
		List<CompletableFuture<Long>> tokens = new ArrayList<>();
		for (int i = 0; i < 10_000; i++) {
			tokens.add(acquireAsync(request()).thenApply((lock) -> {
				long token = lock.fencingToken();
				lock.close();
				return token;
			}));
		}
		assertThat(Thread.activeCount()).isLessThanOrEqualTo(threads);
		deliver();
		assertThat(tokens).allSatisfy((token) -> assertThat(token).isDone());
		assertThat(tokens.stream().map(CompletableFuture::join).toList()).doesNotHaveDuplicates().isSorted();
		assertNothingLeft();
	}

}
