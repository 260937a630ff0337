package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.KeyedLock;
import io.github.lockspring.internal.Requests;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.StoreTraits;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Several keys in one call: in one order, one after the other, all or none.
 */
class SeveralKeysTests extends EngineFixture {

	private static final LockRequest FIXED = Requests.ofKeys("b", "a")
		.ttl(TTL)
		.renew(false)
		.waitTime(Duration.ofMinutes(5));

	private ScriptedStore.Asked attempt(String key) {
		ScriptedStore.Asked attempt = this.store.nextLook();
		assertThat(attempt.request().key()).isEqualTo(key);
		return attempt;
	}

	/** The second one is busy. */
	private void secondIsBusy(Running<HeldLock> running) {
		attempt("b").busy(TTL, 100);
		this.time.awaitParked(running.thread());
	}

	/** Has "a" and waits for "b". */
	private Running<HeldLock> waitingForSecond(LockRequest request) {
		Running<HeldLock> running = acquire(request);
		attempt("a").acquired(1);
		secondIsBusy(running);
		return running;
	}

	@Test
	void areTakenInTheirOrderAndOnce() {
		Running<HeldLock> running = acquire(Requests.ofKeys("c", "a", "b", "a"));
		attempt("a").acquired(1);
		attempt("b").acquired(2);
		attempt("c").acquired(3);
		running.get().close();
		assertThat(this.store.released).extracting("key").containsExactly("c", "b", "a");
		assertNothingLeft();
	}

	@Test
	@Tag("h23")
	void secondOneIsRequestedOnceTheFirstIsHeld() {
		Waiting waiting = waiting(FIXED, 100);
		assertThat(this.store.isAsked()).isFalse();
		this.store.messages().granted("a", waiting.token(), 101, false);
		attempt("b").acquired(1);
		assertThat(waiting.get().isHeld()).isTrue();
	}

	@Test
	void firstOneIsReleasedWhenTheSecondIsBusy() {
		Running<HeldLock> running = acquire(FIXED.waitTime(Duration.ZERO));
		attempt("a").acquired(1);
		attempt("b").busy(TTL, 100);
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(running::get)
			.satisfies((ex) -> assertThat(ex.getKey()).isEqualTo("b"));
		assertThat(this.store.released).extracting("key").containsExactly("a");
		assertNothingLeft();
		assertThat(this.events).extracting((event) -> event.getClass().getSimpleName() + " " + event.key())
			.containsExactlyInAnyOrder("Acquired a", "NotAcquired b", "Released a");
	}

	@Test
	void f22FirstOneIsReleasedInTheBackgroundWhenTheStoreDoesNotReply() {
		Running<HeldLock> running = acquire(FIXED.waitTime(Duration.ZERO));
		attempt("a").acquired(1);
		attempt("b").fails();
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(running::get);
		runBackground();
		assertThat(this.store.released).extracting("key").containsExactlyInAnyOrder("a", "b");
		assertNothingLeft();
	}

	@Test
	void waitTimeIsForAllTogether() {
		Waiting waiting = waiting(FIXED.waitTime(Duration.ofSeconds(10)), 100);
		advance(Duration.ofMillis(900));
		this.store.messages().granted("a", waiting.token(), 101, false);
		secondIsBusy(waiting.running());
		for (int i = 0; i < 9; i++) {
			advance(Duration.ofSeconds(1));
			secondIsBusy(waiting.running());
		}
		advance(Duration.ofMillis(100));
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(waiting::get)
			.withMessageContaining("within 10s");
	}

	// defect 18
	@Test
	void keysThatAreFreeDoNotOutlastTheWaitTime() {
		AtomicInteger number = new AtomicInteger();
		this.store.onAcquire = (request) -> {
			this.time.advance(Duration.ofMillis(20));
			return new AcquireResult.Acquired(number.incrementAndGet());
		};
		this.store.traits = StoreTraits.exact().withBlocking(true);
		LockRequest many = Requests.ofKeys(IntStream.range(100, 400).mapToObj(Integer::toString).toArray(String[]::new))
			.waitTime(Duration.ofSeconds(1));
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> this.template.acquire(many))
			.withMessage("Lock '150' was not acquired within 1s. The 50 locks before it took the whole wait time of the"
					+ " request for 300: set a longer waitTime, or request fewer keys at a time.");
		assertThat(this.store.looks).hasSize(50);
		// nobody waits for 50 answers once the time is over
		assertThat(this.store.released).isEmpty();
		runBackground();
		assertThat(this.store.released).hasSize(50);
		assertNothingLeft();
	}

	@Test
	void h24FirstOneIsKeptAliveWhileTheSecondIsWaitedForAndItsTimeStartsThen() {
		Running<HeldLock> running = waitingForSecond(FIXED);
		for (int i = 0; i < 100; i++) {
			pass(Duration.ofSeconds(1));
			secondIsBusy(running);
		}
		assertThat(this.store.renewed).hasSize(10).allMatch((batch) -> batch.get(0).key().equals("a"));
		advance(Duration.ofSeconds(1));
		attempt("b").acquired(200);
		HeldLock locks = running.get();
		passHeld(locks, 27);
		pass(Duration.ofSeconds(3));
		assertThat(((KeyedLock) locks).locks()).noneMatch(KeyedLock::isHeld);
	}

	@Test
	void h24ShortLeaseIsRenewedBeforeTheWorkStarts() {
		Running<HeldLock> running = waitingForSecond(FIXED);
		this.time.advanceUnnoticed(Duration.ofSeconds(20));
		this.store.messages().granted("b", this.store.looks.get(1).token(), 101, false);
		attempt("b").acquired(102);
		HeldLock locks = running.get();
		assertThat(this.store.renewed).hasSize(1);
		assertThat(locks.remaining()).isGreaterThanOrEqualTo(TTL.minus(DRIFT));
	}

	@Test
	void h24WorkDoesNotStartWhenTheFirstWasLostMeanwhile() {
		this.store.onRenew = (request) -> RenewResult.NOT_OWNER;
		Running<HeldLock> running = waitingForSecond(FIXED);
		pass(Duration.ofSeconds(10));
		attempt("b").acquired(102);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(running::get)
			.satisfies((ex) -> assertThat(ex.getKey()).isEqualTo("a"));
		assertThat(this.store.released).extracting("key").contains("b");
		assertNothingLeft();
	}

	@Test
	void h24WorkDoesNotStartWhenAShortLeaseCannotBeRenewed() {
		this.store.failRenewals();
		Running<HeldLock> running = waitingForSecond(Requests.labelled(FIXED, "moving"));
		advance(Duration.ofSeconds(20));
		attempt("b").acquired(102);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(running::get)
			.withMessageContaining("'a' (moving)")
			.havingCause()
			.withMessage("no answer");
		assertNothingLeft();
	}

	@Test
	void optionsAndChecksConcernAllOfThem() {
		this.store.free();
		HeldLock locks = this.template.acquire(Requests.labelled(FIXED, "orders"));
		assertThat(((KeyedLock) locks).name()).isEqualTo("orders");
		((KeyedLock) locks).verify();
		assertThat(this.store.renewed).extracting((requests) -> requests.get(0).key()).containsExactly("a", "b");
		locks.extend(Duration.ofMinutes(2));
		assertThat(locks.remaining()).isGreaterThan(Duration.ofSeconds(110));
		assertThat(this.store.renewed).hasSize(4);
		locks.ensureHeld();
		this.store.onRenew = (request) -> request.key().equals("b") ? RenewResult.NOT_OWNER : RenewResult.RENEWED;
		assertThatExceptionOfType(LockLostException.class).isThrownBy(((KeyedLock) locks)::verify)
			.satisfies((ex) -> assertThat(ex.getKey()).isEqualTo("b"));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(locks::ensureHeld);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> locks.extend(TTL));
	}

	/** The next end of a lock meets an error. */
	private void failNextEnd() {
		this.time.afterReading(() -> {
			throw new StackOverflowError();
		});
	}

	// defect 30
	@Test
	void errorAtTheEndOfOneReleasesTheOthersAllTheSame() {
		this.store.free();
		assertThatExceptionOfType(StackOverflowError.class)
			.isThrownBy(() -> this.template.executeWithoutResult(FIXED, (locks) -> failNextEnd()));
		assertThat(this.store.released).extracting("key").contains("a");
	}

	// defect 30
	@Test
	void errorAtTheEndOfOneHandleReleasesTheOthersAllTheSame() {
		this.store.free();
		HeldLock locks = this.template.acquire(FIXED);
		failNextEnd();
		assertThatExceptionOfType(StackOverflowError.class).isThrownBy(locks::close);
		assertThat(this.store.released).extracting("key").contains("a");
	}

	// defect 30
	@Test
	void errorAtTheEndDoesNotHideTheExceptionOfTheWork() {
		this.store.free();
		assertThatIllegalStateException().isThrownBy(() -> this.template.executeWithoutResult(FIXED, (locks) -> {
			failNextEnd();
			throw new IllegalStateException("the work's own");
		})).withMessage("the work's own").satisfies((ex) -> assertThat(ex.getSuppressed()).hasSize(1));
		assertThat(this.store.released).extracting("key").contains("a");
	}

}
