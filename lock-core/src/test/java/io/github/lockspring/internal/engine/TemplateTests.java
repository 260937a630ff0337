package io.github.lockspring.internal.engine;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.Objects;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockInterruptedException;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.Requests;
import io.github.lockspring.internal.engine.support.LockEvents;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.ReleaseResult;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Acquire, run, release: what each of them may throw, say and publish.
 */
class TemplateTests extends EngineFixture {

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

	@Test
	void callThatDoesNotWaitIsToldThatItsProcessIsReleasingTheLock() {
		CompletableFuture<ReleaseResult> answer = new CompletableFuture<>();
		this.store.onReleaseAsync = (request) -> answer;
		HeldLock lock = held(request(), 1);
		Running<Boolean> closing = start(() -> {
			lock.close();
			return true;
		});
		await().until(() -> !this.store.released.isEmpty());
		assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> this.template.acquire(request().waitTime(Duration.ZERO)))
			.withMessageContaining("This process is releasing it");
		answer.complete(new ReleaseResult.Released());
		closing.get();
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
			.firstTry()
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
		this.store.failReleases();
		assertThat(this.template.<String, RuntimeException>execute(request(), (lock) -> "done")).isEqualTo("done");
		this.store.answerReleases();
		pass(Duration.ofMillis(500));
		assertThat(this.store.released).hasSize(2);
		assertNothingLeft();
	}

	@Test
	void busyErrorSaysWhatWasWantedAndHowLongItMayLast() {
		Waiting waiting = waiting(Requests.labelled(request(), "shipping").waitTime(Duration.ofMillis(900)), 100);
		advance(Duration.ofMillis(900));
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(waiting::get)
			.withMessage("Lock 'order:42' (shipping) was not acquired within 900ms. "
					+ "Its holder's lease lasts 29s more unless it is renewed.")
			.satisfies((ex) -> assertThat(ex.getKey()).isEqualTo(KEY));
		assertNothingLeft();
	}

	@ParameterizedTest
	@CsvSource({ "18000, lease lasts 18s more unless it is renewed.", "-1, has no expiry" })
	void busyErrorOfOneAttemptSaysSo(long remaining, String holder) {
		this.store.onAcquire = (request) -> new AcquireResult.Busy(remaining, 100);
		assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> this.template.acquire(request().waitTime(Duration.ZERO)))
			.withMessageStartingWith("Lock 'order:42' is busy. ")
			.withMessageContaining(holder);
		assertThat(this.store.released).isEmpty();
		assertNothingLeft();
	}

	@Test
	void busyErrorNamesAHandleThatTheSameThreadHasOpenAndCostsNoCommand() {
		this.store.free();
		this.template.acquire(request());
		assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> this.template.acquire(request().waitTime(Duration.ZERO)))
			.withMessageContaining("This thread holds it");
		Running<HeldLock> other = acquire(request().waitTime(Duration.ZERO));
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(other::get)
			.withMessageContaining("held in this process");
		assertThat(this.store.looks).hasSize(1);
	}

	@Test
	void unavailableErrorSaysWhatTheStoreSaid() {
		this.store.onAcquire = (request) -> {
			advance(Duration.ofMillis(900));
			throw new LockUnavailableException("connection refused");
		};
		LockRequest request = Requests.labelled(request(), "shipping").waitTime(Duration.ZERO);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> this.template.tryAcquire(request))
			.withMessageStartingWith("Lock 'order:42' (shipping) could not be requested within 900ms")
			.withCauseInstanceOf(LockUnavailableException.class);
		assertNothingLeft();
	}

	@Test
	void interruptedErrorSaysWhatWasWaitedFor() {
		Waiting waiting = waiting(Requests.labelled(request(), "shipping"), 100);
		advance(Duration.ofMillis(300));
		waiting.thread().interrupt();
		assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(waiting::get)
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
	void listenerThatThrowsBreaksNothing() {
		this.onEvent = (event) -> {
			throw new AssertionError("a bug");
		};
		this.store.free();
		this.template.executeWithoutResult(request(), (lock) -> {
		});
		assertThat(this.events).hasSize(2);
		assertNothingLeft();
	}

}
