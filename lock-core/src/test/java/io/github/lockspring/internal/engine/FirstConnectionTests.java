package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockspring.HeldLock;
import io.github.lockspring.internal.engine.support.LockEvents;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The time that a store takes for connecting does not count as time of a request.
 */
class FirstConnectionTests extends EngineFixture {

	@Test
	void leaseBeginsWhenThereIsAConnection() {
		Duration ttl = Duration.ofSeconds(1);
		this.store.onAwaitConnection = () -> this.time.advance(Duration.ofSeconds(3));
		this.store.free();
		HeldLock lock = this.engine.template().acquire(request().ttl(ttl).waitTime(Duration.ZERO));
		assertThat(lock.isHeld()).isTrue();
		assertThat(lock.remaining()).isEqualTo(ttl.minusMillis(12));
		lock.close();
	}

	@Test
	void connectionThatTakesLongerThanTheWaitTimeLeavesTimeForOneAttempt() {
		this.store.onAwaitConnection = () -> this.time.advance(Duration.ofSeconds(3));
		this.store.free();
		try (HeldLock lock = this.engine.template().acquire(request().waitTime(Duration.ofSeconds(2)))) {
			assertThat(lock.isHeld()).isTrue();
		}
	}

	@Test
	void storeThatFailsToConnectIsRequestedAllTheSame() {
		this.store.onAwaitConnection = () -> {
			throw new IllegalStateException("no connection");
		};
		this.store.free();
		try (HeldLock lock = this.engine.template().acquire(request())) {
			assertThat(lock.isHeld()).isTrue();
		}
	}

	@Test
	void startLetsTheStoreConnect() {
		AtomicInteger connects = new AtomicInteger();
		this.store.onConnect = () -> {
			connects.incrementAndGet();
			throw new IllegalStateException("no connection");
		};
		LockEngine engine = new LockEngine(this.store, settings(), LockEvents.NOBODY);
		engine.start();
		assertThat(connects).hasValue(1);
		assertThat(this.store.looks).isEmpty();
	}

}
