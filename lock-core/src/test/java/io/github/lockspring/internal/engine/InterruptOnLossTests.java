package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;

import io.github.lockspring.LockCallback;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.OnLost;
import io.github.lockspring.internal.Requests;
import io.github.lockspring.store.LockStore.RenewResult;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A loss interrupts the thread that works under the lock, and no other work of that
 * thread.
 */
class InterruptOnLossTests extends EngineFixture {

	private final LockRequest interrupting = request().onLost(OnLost.INTERRUPT);

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
			this.template.execute(request, work);
		}
		catch (Exception ex) {
			thrown = ex;
		}
		return new Outcome(thrown, Thread.interrupted());
	}

	private Object sleep() throws InterruptedException {
		new CountDownLatch(1).await();
		return "woke up";
	}

	/** A call whose work sleeps. */
	private Running<Outcome> sleeping() {
		CountDownLatch working = new CountDownLatch(1);
		Running<Outcome> running = start(() -> call(this.interrupting, (lock) -> {
			working.countDown();
			return sleep();
		}));
		await().until(() -> working.getCount() == 0);
		return running;
	}

	@Test
	void lossInterruptsTheWorkAndIsSuppressedIntoItsException() {
		Running<Outcome> running = sleeping();
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

	/** An interrupt closes the channel that the thread reads, and that may block. */
	@Test
	void interruptIsSentByAThreadThatMayBlock() {
		call(this.interrupting, (lock) -> {
			advance(TTL);
			assertThat(Thread.currentThread().isInterrupted()).isFalse();
			runBackground();
			assertThat(Thread.currentThread().isInterrupted()).isTrue();
			return "done";
		});
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

	// defect 29
	@Test
	void interruptFromAnotherSourceBeforeTheLossIsKept() {
		Outcome outcome = call(this.interrupting, (lock) -> {
			Thread.currentThread().interrupt();
			pass(TTL);
			return "done";
		});
		assertThat(outcome.thrown).isInstanceOf(LockLostException.class);
		assertThat(outcome.flag).isTrue();
	}

	// defect 29
	@Test
	void interruptFromAnotherSourceAfterThatOfTheLossWasReceivedIsKept() {
		Outcome outcome = call(this.interrupting, (lock) -> {
			pass(TTL);
			try {
				return sleep();
			}
			finally {
				Thread.currentThread().interrupt();
			}
		});
		assertThat(outcome.thrown).isInstanceOf(InterruptedException.class);
		assertThat(outcome.flag).isTrue();
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
		ExecutorService losing = Executors.newSingleThreadExecutor();
		this.background = Runnable::run;
		int losses = 0;
		for (int i = 1; i <= 1000; i++) {
			int round = i;
			CompletableFuture<?>[] loss = new CompletableFuture<?>[1];
			Outcome outcome = call(this.interrupting, (lock) -> {
				loss[0] = CompletableFuture.runAsync(this::lose, losing);
				while (round % 10 == 0 && !loss[0].isDone()) {
					Thread.onSpinWait();
				}
				for (int spin = ThreadLocalRandom.current().nextInt(2000); spin > 0; spin--) {
					Thread.onSpinWait();
				}
				return "done";
			});
			losses += (outcome.thrown != null) ? 1 : 0;
			loss[0].join();
			assertThat(outcome.flag || Thread.interrupted()).as("flag after round %s", i).isFalse();
		}
		losing.shutdown();
		assertThat(losses).isGreaterThanOrEqualTo(100);
		assertNothingLeft();
	}

	private void lose() {
		KeyLock lock = this.registry.present(KEY);
		if (lock != null) {
			long now = this.time.nanoTime();
			lock.renewed(token(), RenewResult.NOT_OWNER, now, TTL.toNanos(), now);
		}
	}

	@Test
	void lossInterruptsTheWorkAlsoWhereNoThreadCanBeStarted() {
		Running<Outcome> running = sleeping();
		failToStartThreads();
		advance(TTL);
		assertThat(running.get().thrown).isInstanceOf(InterruptedException.class);
	}

}
