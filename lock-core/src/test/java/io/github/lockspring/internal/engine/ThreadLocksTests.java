package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.RenewResult;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Locks that belong to threads.
 */
class ThreadLocksTests extends EngineFixture {

	private final Lock lock = this.template.asLock(KEY);

	/** What a thread saw at the end. */
	private record Outcome(Object result, boolean flag) {
	}

	private Running<Outcome> run(Callable<?> action) {
		return start(() -> {
			Object result;
			try {
				result = action.call();
			}
			catch (Exception ex) {
				result = ex;
			}
			return new Outcome(result, Thread.interrupted());
		});
	}

	private Running<Outcome> locking() {
		return run(() -> {
			this.lock.lock();
			return "locked";
		});
	}

	/** One that has to wait. */
	private Running<Outcome> waiting() {
		Running<Outcome> waiting = locking();
		this.time.awaitParked(waiting.thread());
		return waiting;
	}

	@Test
	@Tag("ended-threads")
	void lockOfAThreadThatHasEndedIsLostInsteadOfRenewedForEver() throws Exception {
		this.store.free();
		Running<Outcome> holder = locking();
		assertThat(holder.get().result()).isEqualTo("locked");
		holder.thread().join();
		for (int i = 0; i < 4; i++) {
			pass(TTL.dividedBy(2));
		}
		assertThat(this.store.renewed).isEmpty();
		assertThat(events(LockEvent.Lost.class)).singleElement()
			.satisfies((event) -> assertThat(event.reason()).contains("has ended without unlocking"));
		// defect 19
		assertThat(this.store.released).hasSize(1);
		this.lock.lock();
		this.lock.unlock();
		assertNothingLeft();
	}

	@Test
	void isEnteredAgainByItsThreadAlsoThroughAnotherObject() {
		this.store.free();
		this.lock.lock();
		Lock again = this.template.asLock(KEY);
		again.lock();
		assertThat(again.tryLock()).isTrue();
		again.unlock();
		this.lock.unlock();
		assertThat(this.store.released).isEmpty();
		again.unlock();
		assertThat(this.store.looks).hasSize(1);
		assertThat(this.store.released).hasSize(1);
		assertNothingLeft();
	}

	@Test
	void isNotUnlockedByAnotherThread() {
		this.store.free();
		this.lock.lock();
		assertThat(run(() -> {
			this.lock.unlock();
			return "unlocked";
		}).get().result).isInstanceOf(IllegalMonitorStateException.class);
		assertThat(this.store.released).isEmpty();
		this.lock.unlock();
		assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(this.lock::unlock)
			.withMessageContaining(KEY);
	}

	@Test
	void isNotEnteredByAnotherThread() {
		this.store.free();
		this.lock.lock();
		assertThat(run(this.lock::tryLock).get().result).isEqualTo(false);
		this.lock.unlock();
		assertThat(run(this.lock::tryLock).get().result).isEqualTo(true);
	}

	@Test
	void lockWaitsForAsLongAsTheStoreReplies() {
		HeldLock other = held(request(), 1);
		Running<Outcome> waiting = waiting();
		passHeld(other, 500);
		this.time.awaitParked(waiting.thread());
		assertThat(waiting.result()).isNotDone();
		other.close();
		assertThat(waiting.get().result).isEqualTo("locked");
	}

	@Test
	void lockIsNotInterruptedButKeepsTheFlag() {
		HeldLock other = held(request(), 1);
		Running<Outcome> waiting = waiting();
		waiting.thread().interrupt();
		this.time.awaitParked(waiting.thread());
		assertThat(waiting.result()).isNotDone();
		other.close();
		assertThat(waiting.get()).isEqualTo(new Outcome("locked", true));
	}

	@Test
	void lockGoesOnWaitingWhenTheStoreRepliesAgainInTime() {
		Running<Outcome> waiting = locking();
		for (int i = 0; i < 20; i++) {
			ScriptedStore.Asked look = this.store.nextLook();
			if (i % 4 == 0) {
				look.busy(TTL, i);
			}
			else {
				look.fails();
			}
			this.time.awaitParked(waiting.thread());
			advance(Duration.ofSeconds(1));
		}
		this.store.nextLook().acquired(100);
		assertThat(waiting.get().result).isEqualTo("locked");
	}

	@Test
	void lockInterruptiblyEndsWithTheExceptionAndWithoutTheFlag() {
		held(request(), 1);
		Running<Outcome> waiting = run(() -> {
			this.lock.lockInterruptibly();
			return "locked";
		});
		this.time.awaitParked(waiting.thread());
		waiting.thread().interrupt();
		Outcome outcome = waiting.get();
		assertThat(outcome.result).isInstanceOf(InterruptedException.class);
		assertThat(outcome.flag).isFalse();
	}

	@Test
	void tryLockMakesOneAttemptAndDoesNotQueue() {
		this.store.onAcquire = (request) -> new AcquireResult.Busy(18_000, 1);
		assertThat(this.lock.tryLock()).isFalse();
		assertThat(this.store.looks).extracting(AcquireRequest::queue).containsExactly(false);
		assertNothingLeft();
	}

	@Test
	void tryLockDistinguishesAnUnavailableStoreFromABusyLock() {
		this.store.onAcquire = (request) -> {
			throw new LockUnavailableException("down");
		};
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(this.lock::tryLock);
	}

	@Test
	void tryLockWithATimeWaitsThatLong() {
		held(request(), 1);
		Running<Outcome> waiting = run(() -> this.lock.tryLock(2, TimeUnit.SECONDS));
		assertThat(this.time.awaitParked(waiting.thread())).isEqualTo(Duration.ofSeconds(2));
		advance(Duration.ofSeconds(2));
		assertThat(waiting.get().result).isEqualTo(false);
	}

	@Test
	void tryLockWithAnAbsurdTimeWaits() throws InterruptedException {
		HeldLock other = held(request(), 1);
		assertThat(run(() -> this.lock.tryLock(-1, TimeUnit.DAYS)).get().result).isEqualTo(false);
		Running<Outcome> waiting = run(() -> this.lock.tryLock(Long.MAX_VALUE, TimeUnit.DAYS));
		this.time.awaitParked(waiting.thread());
		other.close();
		assertThat(waiting.get().result).isEqualTo(true);
	}

	@Test
	void unlockAfterALossSaysSoOnce() {
		this.store.free();
		this.lock.lock();
		this.store.onRenew = (request) -> RenewResult.NOT_OWNER;
		pass(TTL.dividedBy(3));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(this.lock::unlock);
		assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(this.lock::unlock);
		this.lock.lock();
		this.lock.unlock();
		assertNothingLeft();
	}

	@Test
	void lockThatWasLostIsNotEnteredAgain() {
		this.store.free();
		this.lock.lock();
		advance(TTL);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(this.lock::lock);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(this.lock::unlock);
	}

	@Test
	void hasNoConditions() {
		assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(this.lock::newCondition);
	}

	@Test
	void lockEndsWhenTheApplicationStops() {
		held(request(), 1);
		Running<Outcome> waiting = waiting();
		this.engine.stopWaiting();
		assertThat(waiting.get().result).isInstanceOf(LockNotAcquiredException.class);
	}

	@Test
	void interruptedThreadDoesNotEnterAgainInAWayThatCanBeInterrupted() {
		this.store.free();
		this.lock.lock();
		Thread.currentThread().interrupt();
		assertThatExceptionOfType(InterruptedException.class).isThrownBy(this.lock::lockInterruptibly);
		Thread.currentThread().interrupt();
		assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> this.lock.tryLock(1, TimeUnit.SECONDS));
		assertThat(this.lock).hasToString("Lock '" + KEY + "' held by this thread");
		this.lock.unlock();
		assertThat(this.store.released).hasSize(1);
		assertThat(this.lock).hasToString("Lock '" + KEY + "'");
	}

}
