package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.internal.engine.support.LockEvents;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The time that a store takes for connecting does not count as time of a request.
 */
class FirstConnectionTests extends EngineFixture {

	@Test
	void leaseBeginsWhenThereIsAConnection() {
		Duration ttl = Duration.ofSeconds(1);
		Running<HeldLock> running = connectingForThreeSeconds(request().ttl(ttl).waitTime(Duration.ZERO));
		this.store.nextLook().acquired(1);
		HeldLock lock = running.get();
		assertThat(lock.isHeld()).isTrue();
		assertThat(lock.remaining()).isEqualTo(ttl.minusMillis(12));
		lock.close();
	}

	private Running<HeldLock> connectingForThreeSeconds(LockRequest request) {
		CompletableFuture<@Nullable Void> connected = new CompletableFuture<>();
		this.store.onConnect = () -> connected;
		Running<HeldLock> running = acquire(request);
		await().until(() -> running.thread().getState() == Thread.State.TIMED_WAITING);
		this.time.advance(Duration.ofSeconds(3));
		assertThat(this.store.looks).isEmpty();
		connected.complete(null);
		return running;
	}

	@Test
	@Tag("end-of-a-wait")
	void connectionThatTakesLongerThanTheWaitTimeLeavesTimeForOneAttempt() {
		Running<HeldLock> running = connectingForThreeSeconds(request().waitTime(Duration.ofSeconds(2)));
		ScriptedStore.Asked attempt = this.store.nextLook();
		this.time.advance(Duration.ofMillis(600));
		this.time.awaitParked(running.thread());
		attempt.acquired(1);
		assertThat(running.get().isHeld()).isTrue();
	}

	static List<Supplier<CompletionStage<Void>>> failures() {
		return List.of(() -> {
			throw new IllegalStateException("no connection");
		}, () -> CompletableFuture.failedFuture(new IllegalStateException("no connection")));
	}

	@ParameterizedTest
	@MethodSource("failures")
	void storeThatFailsToConnectIsRequestedAllTheSame(Supplier<CompletionStage<Void>> connecting) {
		this.store.onConnect = connecting;
		this.store.free();
		try (HeldLock lock = this.template.acquire(request())) {
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
