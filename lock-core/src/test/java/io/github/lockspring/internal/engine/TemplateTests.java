package io.github.lockspring.internal.engine;

import java.io.IOException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockInterruptedException;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.Requests;
import io.github.lockspring.internal.engine.support.LockEvents;
import io.github.lockspring.internal.engine.support.LockRecorder;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.ReleaseResult;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Acquire, run, release: what each of them may throw, say and publish.
 */
class TemplateTests extends EngineFixture {

	private final LockTemplate template = this.engine.template();

	@Test
	void returnsWhatTheWorkReturns() {
		this.store.free();
		assertThat(this.template.<String, RuntimeException>execute(request(), (lock) -> "done")).isEqualTo("done");
		assertThat(this.template.<String, RuntimeException>execute(request(), (lock) -> null)).isNull();
	}

	@Test
	void holdsTheLockWhileTheWorkRunsAndReleasesItThen() {
		this.store.free();
		this.template.executeWithoutResult(request(), (lock) -> {
			assertThat(lock.isHeld()).isTrue();
			assertThat(lock.keys()).containsExactly(KEY);
			assertThat(lock.fencingToken()).isEqualTo(1);
			assertThat(this.store.released).isEmpty();
		});
		assertThat(this.store.released).hasSize(1);
		assertNothingLeft();
	}

	/** Otherwise the next call, which does not wait, would find its own lock busy. */
	@Test
	void lockIsFreeInThisInstanceBeforeItsHolderGoesOn() {
		CompletableFuture<ReleaseResult> answer = new CompletableFuture<>();
		this.store.onReleaseAsync = (request) -> answer;
		HeldLock lock = held(request(), 1);
		Running<Boolean> closing = start(() -> {
			lock.close();
			return true;
		});
		await().until(() -> !this.store.released.isEmpty());
		CompletableFuture<Boolean> free = Objects
			.requireNonNull(this.registry.releases().registered(this.store.releasedTokens().get(0)))
			.first()
			.thenApply((result) -> this.registry.isIdle());
		answer.complete(new ReleaseResult.Released());
		closing.get();
		assertThat(free).isCompletedWithValue(true);
	}

	@Test
	void checkedExceptionOfTheWorkReachesTheCallerUntouched() {
		this.store.free();
		IOException thrown = new IOException("disk");
		assertThatExceptionOfType(IOException.class).isThrownBy(() -> this.template.execute(request(), (lock) -> {
			throw thrown;
		})).isSameAs(thrown).satisfies((ex) -> assertThat(ex.getSuppressed()).isEmpty());
		assertThat(this.store.released).hasSize(1);
		assertNothingLeft();
	}

	@Test
	void exceptionOfTheWorkWinsOverALossWhichIsSuppressedIntoIt() {
		this.store.free();
		assertThatExceptionOfType(IOException.class).isThrownBy(() -> this.template.execute(request(), (lock) -> {
			pass(TTL);
			throw new IOException("disk");
		})).satisfies((ex) -> assertThat(ex.getSuppressed()).singleElement().isInstanceOf(LockLostException.class));
		assertNothingLeft();
	}

	@Test
	void normalReturnAfterALossIsAnError() {
		this.store.free();
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.template.execute(Requests.labelled(request(), "shipping"), (lock) -> {
				advance(TTL);
				return "done";
			}))
			.withMessageContaining("'" + KEY + "' (shipping) was lost")
			.withMessageContaining("fencing token 1")
			.satisfies((ex) -> assertThat(ex.getKey()).isEqualTo(KEY));
		assertNothingLeft();
	}

	@Test
	void releaseThatGetsNoReplyIsNoErrorOfTheWork() {
		this.store.free();
		this.store.onRelease = (request) -> {
			throw new LockUnavailableException("no answer");
		};
		assertThat(this.template.<String, RuntimeException>execute(request(), (lock) -> "done")).isEqualTo("done");
		assertReleaseIsRepeated();
	}

	@Test
	void releaseThatFailsWithAnErrorIsNoErrorOfTheWork() {
		this.store.free();
		this.store.onRelease = (request) -> {
			throw new NoClassDefFoundError("gone");
		};
		assertThatExceptionOfType(IOException.class).isThrownBy(() -> this.template.execute(request(), (lock) -> {
			throw new IOException("disk");
		}));
		assertReleaseIsRepeated();
	}

	private void assertReleaseIsRepeated() {
		this.store.onRelease = (request) -> new LockStore.ReleaseResult.Released();
		pass(Duration.ofMillis(500));
		assertThat(this.store.released).hasSize(2);
		assertNothingLeft();
	}

	@Test
	void busyErrorSaysWhatWasWantedAndHowLongItMayLast() {
		Running<HeldLock> running = acquire(Requests.labelled(request(), "shipping").waitTime(Duration.ofMillis(1500)));
		this.store.nextLook().busy(Duration.ofSeconds(18), 100);
		this.time.awaitParked(running.thread());
		advance(Duration.ofMillis(1500));
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(running::get)
			.withMessage("Lock 'order:42' (shipping) was not acquired within 1.5s. "
					+ "Its holder's lease lasts 16s more unless it is renewed.")
			.satisfies((ex) -> assertThat(ex.getKey()).isEqualTo(KEY));
		assertNothingLeft();
	}

	@Test
	void busyErrorOfOneAttemptSaysSo() {
		this.store.onAcquire = (request) -> new AcquireResult.Busy(18_000, 100);
		assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> this.template.acquire(request().waitTime(Duration.ZERO)))
			.withMessage("Lock 'order:42' is busy. Its holder's lease lasts 18s more unless it is renewed.");
		assertThat(this.store.released).isEmpty();
		assertNothingLeft();
	}

	@Test
	void busyErrorNamesAKeyWithoutEndOfLife() {
		this.store.onAcquire = (request) -> new AcquireResult.Busy(-1, 100);
		assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> this.template.acquire(request().waitTime(Duration.ZERO)))
			.withMessageContaining("has no expiry");
	}

	@Test
	void busyErrorNamesAHandleThatTheSameThreadHasOpen() {
		this.store.free();
		HeldLock open = this.template.acquire(request());
		assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> this.template.acquire(request().waitTime(Duration.ZERO)))
			.withMessageContaining("This thread holds it");
		Running<HeldLock> other = acquire(request().waitTime(Duration.ZERO));
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(other::get)
			.withMessageContaining("held in this process");
		open.close();
	}

	@Test
	void oneAttemptOfAKeyInUseHereCostsNoCommand() {
		this.store.free();
		HeldLock open = this.template.acquire(request());
		assertThat(this.template.tryAcquire(request().waitTime(Duration.ZERO))).isEmpty();
		assertThat(this.store.looks).hasSize(1);
		open.close();
		assertThat(this.template.tryAcquire(request().waitTime(Duration.ZERO))).isPresent();
	}

	@Test
	void leaseOfAForeignClientThatLastsForAgesNeitherOverflowsNorSpeedsUpRetries() {
		Running<HeldLock> running = acquire(request().waitTime(Duration.ofMinutes(1)));
		// as nanoseconds this is next to nothing, since 2 to the power of 64 of them fall
		// away
		this.store.nextLook().busy(Duration.ofMillis(18_446_744_073_710L), 100);
		this.time.awaitParked(running.thread());
		assertThat(untilNextAttempt()).isEqualTo(Duration.ofSeconds(1));
	}

	@Test
	void unavailableErrorSaysWhatTheStoreSaid() {
		this.store.onAcquire = (request) -> {
			advance(Duration.ofMillis(900));
			throw new LockUnavailableException("connection refused");
		};
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(
					() -> this.template.tryAcquire(Requests.labelled(request(), "shipping").waitTime(Duration.ZERO)))
			.withMessage(
					"Lock 'order:42' (shipping) could not be requested within 900ms. The cause says which server, and why")
			.withCauseInstanceOf(LockUnavailableException.class);
		assertNothingLeft();
	}

	@Test
	void storeThatFailsInAnUnexpectedWayIsUnavailable() {
		this.store.onAcquire = (request) -> {
			throw new IllegalArgumentException("a bug");
		};
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> this.template.acquire(request().waitTime(Duration.ZERO)))
			.havingCause()
			.withMessageContaining("a bug");
		assertNothingLeft();
	}

	@Test
	void interruptedErrorSaysWhatWasWaitedFor() {
		Waiting waiting = waiting(Requests.labelled(request(), "shipping"), 100);
		advance(Duration.ofMillis(300));
		waiting.running().thread().interrupt();
		assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(waiting.running()::get)
			.withMessage("Lock 'order:42' (shipping) was not acquired: the thread was interrupted after 300ms")
			.satisfies((ex) -> assertThat(ex.getKey()).isEqualTo(KEY));
		assertNothingLeft();
	}

	@Test
	void eventsTellOfAnAcquisitionAndItsRelease() {
		this.store.onAcquire = (request) -> {
			advance(Duration.ofMillis(3));
			return new AcquireResult.Acquired(7);
		};
		this.template.executeWithoutResult(Requests.labelled(request(), "shipping"),
				(lock) -> advance(Duration.ofSeconds(2)));
		assertThat(this.events).containsExactly(new LockEvents.Acquired(KEY, "shipping", 7, Duration.ofMillis(3)),
				new LockEvents.Released(KEY, "shipping", 7, Duration.ofSeconds(2)));
	}

	@Test
	void eventsTellOfABusyLock() {
		this.store.onAcquire = (request) -> new AcquireResult.Busy(18_000, 100);
		assertThat(this.template.tryAcquire(request().waitTime(Duration.ZERO))).isEmpty();
		assertThat(this.events).containsExactly(new LockEvents.NotAcquired(KEY, null, Duration.ZERO));
	}

	@Test
	void eventsTellOfAnUnavailableStore() {
		LockUnavailableException cause = new LockUnavailableException("down");
		this.store.onAcquire = (request) -> {
			throw cause;
		};
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> this.template.acquire(request().waitTime(Duration.ZERO)));
		assertThat(this.events).containsExactly(new LockEvents.Unavailable(KEY, null, Duration.ZERO, cause));
	}

	@Test
	void eventsTellOfALossOnceAndNotOfARelease() {
		this.store.free();
		HeldLock lock = this.template.acquire(request());
		pass(TTL);
		assertThat(events(LockEvent.Lost.class)).singleElement().satisfies((event) -> {
			assertThat(event.key()).isEqualTo(KEY);
			assertThat(event.fencingToken()).isEqualTo(1);
			assertThat(event.held()).isEqualTo(TTL);
			assertThat(event.reason()).contains("lease ended");
		});
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::close);
		assertThat(this.events).hasSize(2);
	}

	@Test
	void listenerThatThrowsBreaksNothingAndHidesNothingFromTheNext() {
		Consumer<LockEvent> throwing = (event) -> {
			this.events.add(event);
			throw new AssertionError("a bug");
		};
		KeyLockRegistry other = new KeyLockRegistry(this.store, settings(), throwing, LockRecorder.NONE, this.time,
				EngineFixture.NO_THREADS);
		this.store.free();
		new LockEngine(() -> other).template().executeWithoutResult(request(), (lock) -> {
		});
		assertThat(this.events).hasSize(2);
		assertThat(other.isEmpty()).isTrue();
	}

}
