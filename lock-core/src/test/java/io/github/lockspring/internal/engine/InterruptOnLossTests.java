package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockspring.LockCallback;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.OnLost;
import io.github.lockspring.internal.Requests;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewResult;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A loss interrupts the thread that works under the lock, and no other work of that
 * thread.
 */
class InterruptOnLossTests extends EngineFixture {

	private final LockRequest interrupting = request().onLost(OnLost.INTERRUPT);

	private final CountDownLatch working = new CountDownLatch(1);

	@BeforeEach
	void everyLockIsFree() {
		this.store.free();
	}

	/**
	 * How a call ended: what it threw, and whether the thread's flag was set after it.
	 */
	private record Outcome(Throwable thrown, boolean flag) {
	}

	private Outcome call(LockRequest request, LockCallback<?, Exception> work) {
		Throwable thrown = null;
		try {
			this.engine.template().execute(request, work);
		}
		catch (Exception ex) {
			thrown = ex;
		}
		return new Outcome(thrown, Thread.interrupted());
	}

	private Object sleep() throws InterruptedException {
		this.working.countDown();
		new CountDownLatch(1).await();
		return "woke up";
	}

	private void awaitWork() {
		try {
			this.working.await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void lossInterruptsTheWorkAndIsSuppressedIntoItsException() {
		Running<Outcome> running = start(() -> call(this.interrupting, (lock) -> sleep()));
		awaitWork();
		pass(TTL);
		Outcome outcome = running.get();
		assertThat(outcome.thrown).isInstanceOf(InterruptedException.class);
		assertThat(outcome.thrown.getSuppressed()).singleElement().isInstanceOf(LockLostException.class);
		assertThat(outcome.flag).isFalse();
		assertNothingLeft();
	}

	@Test
	void flagIsClearedWhenTheWorkIgnoredTheInterrupt() {
		Outcome outcome = call(this.interrupting, (lock) -> {
			pass(TTL);
			assertThat(Thread.currentThread().isInterrupted()).isTrue();
			return "done";
		});
		assertThat(outcome.thrown).isInstanceOf(LockLostException.class);
		assertThat(outcome.flag).isFalse();
	}

	@Test
	void lossDoesNotInterruptWhereThatWasNotRequested() {
		Outcome outcome = call(request(), (lock) -> {
			pass(TTL);
			assertThat(Thread.currentThread().isInterrupted()).isFalse();
			return "done";
		});
		assertThat(outcome.thrown).isInstanceOf(LockLostException.class);
	}

	@Test
	void interruptFromAnotherSourceIsKeptWhenNothingWasLost() {
		Outcome outcome = call(this.interrupting, (lock) -> {
			Thread.currentThread().interrupt();
			return "done";
		});
		assertThat(outcome.thrown).isNull();
		assertThat(outcome.flag).isTrue();
		assertThat(this.store.released).hasSize(1);
	}

	@Test
	void lossBeforeTheWorkStartedInterruptsItToo() {
		this.onEvent = (event) -> {
			if (event instanceof LockEvent.Acquired) {
				pass(TTL);
			}
		};
		Outcome outcome = call(this.interrupting, (lock) -> sleep());
		assertThat(outcome.thrown).isInstanceOf(InterruptedException.class);
		assertThat(outcome.flag).isFalse();
	}

	@Test
	void lossAfterTheWorkInterruptsNoThread() {
		this.store.onRelease = (request) -> {
			pass(TTL);
			return new ReleaseResult.Released();
		};
		Outcome outcome = call(this.interrupting, (lock) -> "done");
		assertThat(outcome).isEqualTo(new Outcome(null, false));
	}

	@Test
	@Tag("nested-calls")
	void optionOfTheOutermostCallCounts() {
		Outcome outcome = call(request(), (outer) -> {
			call(this.interrupting, (inner) -> {
				pass(TTL);
				assertThat(Thread.currentThread().isInterrupted()).isFalse();
				return "done";
			});
			return "done";
		});
		assertThat(outcome.thrown).isInstanceOf(LockLostException.class);
	}

	@Test
	void endOfAnInnerCallDoesNotEndTheInterruptOfTheOuterOne() {
		Outcome outcome = call(this.interrupting, (outer) -> {
			call(this.interrupting, (inner) -> "done");
			pass(TTL);
			return sleep();
		});
		assertThat(outcome.thrown).isInstanceOf(InterruptedException.class);
		assertThat(outcome.flag).isFalse();
	}

	@Test
	void lossOfOneOfSeveralKeysInterrupts() {
		LockRequest both = Requests.ofKeys("a", "b").ttl(Duration.ofSeconds(1)).renew(false).onLost(OnLost.INTERRUPT);
		Outcome outcome = call(both, (locks) -> {
			pass(Duration.ofSeconds(1));
			return sleep();
		});
		assertThat(outcome.thrown).isInstanceOf(InterruptedException.class);
		assertThat(outcome.thrown.getSuppressed()).hasSize(1);
		assertThat(outcome.flag).isFalse();
		assertThat(this.store.released).extracting("key").containsExactlyInAnyOrder("a", "b");
	}

	@Test
	void interruptNeverArrivesAfterTheWorkHoweverCloseTheLossIs() {
		int rounds = 1000;
		AtomicInteger begun = new AtomicInteger();
		AtomicInteger declared = new AtomicInteger();
		Hold[] present = new Hold[1];
		Running<Boolean> losing = start(() -> {
			for (int i = 1; i <= rounds; i++) {
				awaitRound(begun, i);
				long now = this.time.nanoTime();
				present[0].lock().renewed(present[0].token(), RenewResult.NOT_OWNER, now, TTL.toNanos(), now);
				declared.set(i);
			}
			return true;
		});
		int losses = 0;
		for (int i = 1; i <= rounds; i++) {
			int round = i;
			Outcome outcome = call(this.interrupting, (lock) -> {
				present[0] = owned(KEY).hold();
				begun.set(round);
				if (round % 10 == 0) {
					awaitRound(declared, round);
				}
				for (int spin = ThreadLocalRandom.current().nextInt(2000); spin > 0; spin--) {
					Thread.onSpinWait();
				}
				return "done";
			});
			losses += (outcome.thrown != null) ? 1 : 0;
			awaitRound(declared, i);
			assertThat(outcome.flag || Thread.interrupted()).as("flag after round %s", i).isFalse();
		}
		assertThat(losing.get()).isTrue();
		assertThat(losses).isGreaterThanOrEqualTo(rounds / 10);
		assertNothingLeft();
	}

	private static void awaitRound(AtomicInteger present, int round) {
		for (int tries = 0; present.get() < round; tries++) {
			if (tries < 1000) {
				Thread.onSpinWait();
			}
			else {
				Thread.yield();
			}
		}
	}

	@Test
	void lossInterruptsTheWorkAlsoWhereNoThreadCanBeStarted() {
		Running<Outcome> running = start(() -> call(this.interrupting, (lock) -> sleep()));
		awaitWork();
		this.background = (task) -> {
			throw new OutOfMemoryError("no thread");
		};
		advance(TTL);
		tick();
		assertThat(running.get().thrown).isInstanceOf(InterruptedException.class);
	}

}
