package io.github.lockspring.internal.engine;

import java.time.Duration;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockInterruptedException;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.KeyedLock;
import io.github.lockspring.internal.Requests;
import io.github.lockspring.store.LockStore.RenewResult;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Several keys in one call: in one order, one after the other, all or none.
 */
class SeveralKeysTests extends EngineFixture {

	private static final LockRequest FIXED = Requests.ofKeys("b", "a")
		.ttl(TTL)
		.renew(false)
		.waitTime(Duration.ofMinutes(5));

	private ScriptedStore.Asked look(String key) {
		ScriptedStore.Asked look = this.store.nextLook();
		assertThat(look.request().key()).isEqualTo(key);
		return look;
	}

	/** Has "a" and waits for "b". */
	private Running<HeldLock> waitingForSecond(LockRequest request) {
		Running<HeldLock> running = acquire(request);
		look("a").acquired(1);
		look("b").busy(TTL, 100);
		this.time.awaitParked(running.thread());
		return running;
	}

	@Test
	void areTakenInTheirOrderAndOnce() {
		Running<HeldLock> running = acquire(Requests.ofKeys("c", "a", "b", "a"));
		look("a").acquired(1);
		look("b").acquired(2);
		look("c").acquired(3);
		running.get().close();
		assertThat(this.store.released).extracting("key").containsExactly("c", "b", "a");
		assertNothingLeft();
	}

	@Test
	@Tag("h23")
	void secondOneIsRequestedOnceTheFirstIsHeld() {
		Running<HeldLock> running = acquire(FIXED);
		ScriptedStore.Asked first = look("a");
		first.busy(TTL, 100);
		this.time.awaitParked(running.thread());
		assertThat(this.store.isAsked()).isFalse();
		this.store.messages().granted("a", first.token(), 101, false);
		look("b").acquired(1);
		assertThat(running.get().isHeld()).isTrue();
	}

	@Test
	void firstOneIsReleasedWhenTheSecondIsBusy() {
		Running<HeldLock> running = acquire(FIXED.waitTime(Duration.ZERO));
		look("a").acquired(1);
		look("b").busy(TTL, 100);
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(running::get)
			.satisfies((ex) -> assertThat(ex.getKey()).isEqualTo("b"));
		assertThat(this.store.released).extracting("key").containsExactly("a");
		assertNothingLeft();
		assertThat(this.events).hasSize(3);
		assertThat(events(LockEvent.Acquired.class)).extracting("key").containsExactly("a");
		assertThat(events(LockEvent.Released.class)).extracting("key").containsExactly("a");
		assertThat(events(LockEvent.NotAcquired.class)).extracting("key").containsExactly("b");
	}

	@Test
	void f22FirstOneIsReleasedInTheBackgroundWhenTheStoreDoesNotReply() {
		Running<HeldLock> running = acquire(FIXED.waitTime(Duration.ZERO));
		look("a").acquired(1);
		look("b").fails();
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(running::get);
		runBackground();
		assertThat(this.store.released).extracting("key").containsExactlyInAnyOrder("a", "b");
		assertNothingLeft();
	}

	@Test
	void firstOneIsReleasedWhenTheWaitForTheSecondIsInterrupted() {
		Running<HeldLock> running = waitingForSecond(FIXED);
		running.thread().interrupt();
		assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(running::get);
		runBackground();
		assertThat(this.store.released).extracting("key").containsExactlyInAnyOrder("a", "b");
		assertNothingLeft();
	}

	@Test
	void waitTimeIsForAllTogether() {
		Running<HeldLock> running = acquire(FIXED.waitTime(Duration.ofSeconds(10)));
		ScriptedStore.Asked first = look("a");
		first.busy(TTL, 100);
		this.time.awaitParked(running.thread());
		advance(Duration.ofMillis(900));
		this.store.messages().granted("a", first.token(), 101, false);
		look("b").busy(TTL, 100);
		this.time.awaitParked(running.thread());
		for (int i = 0; i < 9; i++) {
			advance(Duration.ofSeconds(1));
			look("b").busy(TTL, 100);
			this.time.awaitParked(running.thread());
		}
		advance(Duration.ofMillis(100));
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(running::get)
			.withMessageContaining("within 10s");
	}

	@Test
	void h24FirstOneIsKeptAliveWhileTheSecondIsWaitedForAndItsTimeStartsThen() {
		Running<HeldLock> running = waitingForSecond(FIXED);
		for (int i = 0; i < 100; i++) {
			pass(Duration.ofSeconds(1));
			look("b").busy(TTL, 100);
			this.time.awaitParked(running.thread());
		}
		assertThat(this.store.renewed).hasSize(10).allMatch((batch) -> batch.get(0).key().equals("a"));
		advance(Duration.ofSeconds(1));
		look("b").acquired(200);
		HeldLock locks = running.get();
		assertThat(locks.isHeld()).isTrue();
		for (int i = 0; i < 27; i++) {
			pass(Duration.ofSeconds(1));
			assertThat(locks.isHeld()).as("after %s s", i + 1).isTrue();
		}
		pass(Duration.ofSeconds(3));
		assertThat(locks.isHeld()).isFalse();
		assertThat(((KeyedLock) locks).locks()).noneMatch(KeyedLock::isHeld);
	}

	@Test
	void h24ShortLeaseIsRenewedBeforeTheWorkStarts() {
		Running<HeldLock> running = waitingForSecond(FIXED);
		this.time.advanceUnnoticed(Duration.ofSeconds(20));
		this.store.messages().granted("b", this.store.looks.get(1).token(), 101, false);
		look("b").acquired(102);
		HeldLock locks = running.get();
		assertThat(this.store.renewed).hasSize(1);
		assertThat(locks.remaining()).isGreaterThanOrEqualTo(TTL.minus(DRIFT));
	}

	@Test
	void h24WorkDoesNotStartWhenTheFirstWasLostMeanwhile() {
		this.store.onRenew = (request) -> RenewResult.NOT_OWNER;
		Running<HeldLock> running = waitingForSecond(FIXED);
		pass(Duration.ofSeconds(10));
		look("b").acquired(102);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(running::get)
			.satisfies((ex) -> assertThat(ex.getKey()).isEqualTo("a"));
		assertThat(this.store.released).extracting("key").contains("b");
		assertNothingLeft();
	}

	@Test
	void h24WorkDoesNotStartWhenAShortLeaseCannotBeRenewed() {
		this.store.onRenew = (request) -> {
			throw new LockUnavailableException("no answer");
		};
		Running<HeldLock> running = waitingForSecond(Requests.labelled(FIXED, "moving"));
		advance(Duration.ofSeconds(20));
		look("b").acquired(102);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(running::get)
			.withMessageContaining("'a' (moving)")
			.havingCause()
			.withMessage("no answer");
		assertNothingLeft();
	}

	@Test
	void optionsAndChecksConcernAllOfThem() {
		this.store.free();
		HeldLock locks = this.engine.template().acquire(Requests.labelled(FIXED, "orders"));
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

}
