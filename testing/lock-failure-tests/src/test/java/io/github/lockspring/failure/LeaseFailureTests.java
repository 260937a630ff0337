package io.github.lockspring.failure;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.OnLost;
import io.github.lockspring.redis.Driver;
import io.github.lockspring.redis.Instance;
import io.github.lockspring.testsupport.network.TcpProxy;
import io.github.lockspring.testsupport.process.JavaProcess;
import io.github.lockspring.testsupport.redis.RedisServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/**
 * What can happen to a lease while work runs under it, on a real server.
 */
class LeaseFailureTests {

	private static final Duration SHORT = Duration.ofSeconds(2);

	private static final LockRequest RENEWED = LockRequest.of("order:42").ttl(SHORT).waitTime(Duration.ofSeconds(20));

	/** What the next holder takes: not lost because the machine is busy. */
	private static final LockRequest NEXT = RENEWED.ttl(Duration.ofSeconds(30));

	private final RedisServer redis = RedisServer.start();

	private Instance mine;

	private Instance other;

	@BeforeEach
	void start() {
		this.mine = Instance.patient(Driver.LETTUCE, this.redis.port());
		this.other = Instance.patient(Driver.LETTUCE, this.redis.port());
		warmUp(this.mine);
		warmUp(this.other);
	}

	private static void warmUp(Instance instance) {
		instance.locks().acquire(LockRequest.of("warm-up").waitTime(Duration.ofMinutes(1))).close();
		instance.events().clear();
	}

	@AfterEach
	void stop() {
		this.mine.close();
		this.other.close();
		this.redis.close();
	}

	@Test
	void f02WorkThatFailsReleasesTheLockAtOnce() {
		assertThatIllegalStateException()
			.isThrownBy(() -> this.mine.locks().execute(LockRequest.of("order:42"), (lock) -> {
				throw new IllegalStateException("out of stock");
			}))
			.withMessage("out of stock")
			.satisfies((ex) -> assertThat(ex.getSuppressed()).isEmpty());
		assertThat(this.redis.exists("lock:order:42")).isFalse();
	}

	@Test
	void f02LockOfAKilledProcessIsFreeAfterItsTtlWithoutHelp() {
		try (JavaProcess holder = HolderProcess.start(this.redis.port(), Duration.ofSeconds(3))) {
			long token = Long.parseLong(holder.await("token"));
			CompletableFuture<HeldLock> waiter = CompletableFuture.supplyAsync(() -> this.mine.locks().acquire(NEXT));
			await().until(() -> this.redis.exists("{lock:order:42}:queue"));
			holder.signal("KILL");
			// its ttl, one look interval, and time for a slow machine
			HeldLock lock = waiter.orTimeout(30, TimeUnit.SECONDS).join();
			assertThat(lock.fencingToken()).isGreaterThan(token);
			lock.close();
		}
	}

	@Test
	@Tag("overrun-fixed")
	@Tag("renewal-stops-fixed")
	void f03WorkThatOutlastsAFixedTtlIsNotifiedAtTheDeadlineAndAtItsEnd() {
		LockRequest fixed = LockRequest.of("order:42").ttl(SHORT).renew(false);
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.mine.locks().executeWithoutResult(fixed, (lock) -> {
				HeldLock second = this.other.locks().acquire(NEXT);
				assertThat(lock.isHeld()).isFalse();
				assertThat(second.fencingToken()).isGreaterThan(lock.fencingToken());
				await().until(() -> !this.mine.events(LockEvent.Lost.class).isEmpty());
				second.close();
			}))
			.withMessageContaining("order:42");
		assertThat(this.mine.events(LockEvent.Released.class)).isEmpty();
	}

	@Test
	@Tag("commit-unreachable-renewed")
	@Tag("renewal-stops-renewed")
	void f07RenewalStopsBecauseTheNetworkIsSilent() {
		try (TcpProxy proxy = new TcpProxy(this.redis.port()); Instance cutOff = Instance.on(proxy.port())) {
			warmUp(cutOff);
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> cutOff.locks().executeWithoutResult(RENEWED.onLost(OnLost.INTERRUPT), (lock) -> {
					proxy.stall();
					long stalled = System.nanoTime();
					try {
						new CountDownLatch(1).await(60, TimeUnit.SECONDS);
						throw new AssertionError("The watchdog said nothing");
					}
					catch (InterruptedException ex) {
						// told by the watchdog, on time, although the store is silent
						assertThat(lock.isHeld()).isFalse();
						assertThat(Duration.ofNanos(System.nanoTime() - stalled)).isLessThan(Duration.ofSeconds(20));
					}
				}));
			assertThat(Thread.currentThread().isInterrupted()).isFalse();
			await().until(() -> cutOff.events(LockEvent.Lost.class).size() == 1);
			proxy.restore();
			await().atMost(Duration.ofSeconds(20))
				.ignoreExceptions()
				.until(() -> cutOff.locks().execute(RENEWED, HeldLock::isHeld));
		}
	}

	@Test
	@Tag("overrun-renewed")
	void f08HungHolderIsRenewedNoLongerThanItsMaximumHold() {
		AtomicBoolean hung = new AtomicBoolean(true);
		Thread holder = new Thread(() -> this.mine.locks()
			.executeWithoutResult(RENEWED.maxHold(Duration.ofSeconds(4)),
					(lock) -> await().forever().untilFalse(hung)));
		holder.start();
		await().until(() -> this.redis.exists("lock:order:42"));
		HeldLock next = this.other.locks().acquire(NEXT);
		// by a thread that may be late
		await().until(() -> !this.mine.events(LockEvent.Lost.class).isEmpty());
		assertThat(this.mine.events(LockEvent.Lost.class)).hasSize(1);
		assertThat(this.mine.events(LockEvent.Lost.class).get(0).held()).isBetween(Duration.ofMillis(3900),
				Duration.ofSeconds(15));
		hung.set(false);
		next.close();
	}

	@Test
	@Tag("pause-fixed-renewed")
	void f09HolderThatWasStoppedBeyondItsTtlKnowsItBeforeItWritesAgain() {
		try (JavaProcess holder = HolderProcess.start(this.redis.port(), Duration.ofSeconds(1))) {
			long token = Long.parseLong(holder.await("token"));
			holder.signal("STOP");
			HeldLock next = this.mine.locks().acquire(NEXT);
			assertThat(next.fencingToken()).isGreaterThan(token);
			holder.signal("CONT");
			assertThat(holder.ask("held")).isEqualTo("false");
			assertThat(next.isHeld()).isTrue();
			next.close();
		}
	}

}
