package io.github.lockspring.failure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockException;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.redis.Driver;
import io.github.lockspring.redis.Instance;
import io.github.lockspring.redis.internal.RedisKeys;
import io.github.lockspring.testsupport.network.TcpProxy.Cut;
import io.github.lockspring.testsupport.network.TcpProxy;
import io.github.lockspring.testsupport.redis.RedisServer;
import io.github.lockspring.testsupport.redis.SentinelGroup;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * F11: a replica is promoted that has, or has not, what its master has promised. One
 * replica hears everything at once, the other one through a proxy; which of them is
 * promoted, and when, is the test's choice, as it would be a sentinel's.
 */
class ReplicaFailureTests {

	private static final String KEY = "order:42";

	private static final LockRequest REQUEST = LockRequest.of(KEY)
		.ttl(Duration.ofSeconds(30))
		.renew(false)
		.waitTime(Duration.ofSeconds(20));

	private static final LockRequest ONCE = REQUEST.waitTime(Duration.ZERO);

	private final List<Instance> instances = new ArrayList<>();

	private final List<HeldLock> locks = new ArrayList<>();

	private final RedisServer master = RedisServer.start("--repl-diskless-sync-delay", "0", "--repl-diskless-sync",
			"yes");

	private final TcpProxy link = new TcpProxy(this.master.port());

	private final RedisServer near = RedisServer.start("--replicaof", "127.0.0.1 " + this.master.port());

	private final RedisServer far = RedisServer.start("--replicaof", "127.0.0.1 " + this.link.port());

	@BeforeEach
	void awaitReplicas() {
		SentinelGroup.awaitReplicas(this.master, 2);
	}

	@AfterEach
	void stop() {
		for (HeldLock lock : this.locks) {
			try {
				lock.close();
			}
			catch (LockException ex) {
				// some are lost
			}
		}
		this.instances.forEach(Instance::close);
		this.link.close();
		this.far.close();
		this.near.close();
		this.master.close();
	}

	@ParameterizedTest
	@EnumSource
	@Tag("promotion-acknowledged")
	void f11WithAcknowledgementsLockThatAReplicaHasNotIsRefusedAndReleased(Driver driver) {
		Instance mine = on(driver, this.master, 2);
		mine.locks().acquire(REQUEST).close();
		cutOff();
		// a replica of a busy machine may be late, and what was refused be released later
		await().untilAsserted(() -> assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> mine.locks().acquire(ONCE))
			.withStackTraceContaining("1 of 2 replicas acknowledged"));
		await().until(() -> !this.master.exists("lock:" + KEY));
		this.link.restore();
		SentinelGroup.awaitReplicas(this.master, 2);
		mine.locks().acquire(REQUEST).close();
	}

	@Test
	@Tag("promotion-acknowledged")
	void f11LockThatWasAcknowledgedIsNotGrantedAgain() {
		Instance mine = on(this.master, 2);
		HeldLock lock = acquire(mine, REQUEST);
		this.master.kill();
		Instance other = on(promote(this.far), 0);
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> other.locks().acquire(ONCE));
		assertThat(lock.isHeld()).isTrue();
	}

	@Test
	@Tag("replica-acks-limit")
	void f11LockThatOneReplicaAcknowledgedIsGrantedAgainByTheOther() {
		Instance mine = on(this.master, 1);
		cutOff();
		HeldLock lock = acquire(mine, REQUEST);
		this.master.kill();
		HeldLock second = acquire(on(promote(this.far), 0), REQUEST);
		assertThat(lock.isHeld() && second.isHeld()).as("two holders").isTrue();
	}

	@Test
	@Tag("promotion-renewed")
	void f11HolderOnAMasterThatWasReplacedWhilePausedCannotRenewWithAcknowledgements() {
		Duration ttl = Duration.ofSeconds(6);
		List<HeldLock> acknowledged = Stream.of(Driver.values())
			.map((driver) -> acquire(on(driver, this.master, 2), LockRequest.of(driver.name()).ttl(ttl)))
			.toList();
		HeldLock other = acquire(on(this.master, 0), LockRequest.of("not acknowledged").ttl(ttl));
		this.master.pause();
		promote(this.near);
		this.far.command("REPLICAOF", "127.0.0.1", String.valueOf(this.near.port()));
		this.master.resume();
		// their leases are not over yet, and the former master would lengthen them
		assertThat(acknowledged).allMatch(HeldLock::isHeld);
		Instance next = on(this.near, 0);
		for (HeldLock lock : acknowledged) {
			acquire(next, LockRequest.of(lock.keys().get(0)).waitTime(ttl.multipliedBy(4)));
			assertThat(lock.isHeld()).isFalse();
			await().until(() -> this.instances.stream()
				.flatMap((each) -> each.events(LockEvent.Lost.class).stream())
				.anyMatch((event) -> event.key().equals(lock.keys().get(0))));
			assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::close);
		}
		HeldLock second = acquire(next, LockRequest.of(other.keys().get(0)).waitTime(ttl.multipliedBy(4)));
		assertThat(other.isHeld() && second.isHeld()).as("two holders").isTrue();
	}

	@ParameterizedTest
	@EnumSource
	@Tag("h26")
	void f11LockThatIsHandedOverIsUsedOnlyWhenReplicasHaveIt(Driver driver) throws Exception {
		Instance mine = on(driver, this.master, 2);
		Instance other = on(driver, this.master, 2);
		// a waiter that polls is handed the lock for half a second, which may be over
		other.openInbox();
		other.awaitInbox();
		HeldLock lock = acquire(mine, REQUEST);
		CompletableFuture<HeldLock> next = CompletableFuture.supplyAsync(() -> other.locks().acquire(REQUEST));
		await().until(() -> this.master.exists("{lock:" + KEY + "}:queue"));
		String owner = this.master.get("lock:" + KEY);
		this.link.hold();
		lock.close();
		assertThat(this.master.get("lock:" + KEY)).as("handed over").isNotNull().isNotEqualTo(owner);
		// each look that finds the lock owned makes a new one
		String granted = fencingToken();
		await("an attempt").until(() -> next.isDone() || !fencingToken().equals(granted));
		String looked = fencingToken();
		await("another attempt").until(() -> next.isDone() || !fencingToken().equals(looked));
		assertThat(next).isNotDone();
		this.link.restore();
		HeldLock second = next.get(20, TimeUnit.SECONDS);
		assertThat(this.far.get("lock:" + KEY)).isEqualTo(this.master.get("lock:" + KEY));
		second.close();
	}

	private String fencingToken() {
		return String.valueOf(this.master.get(new RedisKeys("lock:").lockAndFencingToken(KEY).get(1)));
	}

	@Test
	@Tag("h26")
	void f11RenewalsAreNotDelayedByAcquisitionsThatWaitForReplicas() throws Exception {
		Instance mine = on(this.master, 2);
		HeldLock lock = acquire(mine, REQUEST.ttl(Duration.ofSeconds(6)).renew(true));
		this.link.delay(Duration.ofMillis(100));
		ExecutorService threads = Executors.newCachedThreadPool();
		try {
			// 16 at a time take 0.2 s each: the last one waits for longer than a renewal
			// may
			for (int i = 0; i < 150; i++) {
				LockRequest request = LockRequest.of("other:" + i).renew(false).waitTime(Duration.ZERO);
				threads.execute(() -> {
					while (!Thread.currentThread().isInterrupted()) {
						try {
							mine.locks().acquire(request).close();
						}
						catch (LockException ex) {
							// there are too many of them, and they leave traces
							LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
						}
					}
				});
			}
			long lease = lock.remaining().toNanos();
			long start = System.nanoTime();
			await().atMost(Duration.ofSeconds(20))
				.until(() -> !lock.isHeld() || System.nanoTime() - start > lease * 4 / 3);
			assertThat(lock.isHeld()).isTrue();
		}
		finally {
			threads.shutdownNow();
			this.link.restore();
			threads.awaitTermination(20, TimeUnit.SECONDS);
		}
		lock.close();
	}

	private HeldLock acquire(Instance instance, LockRequest request) {
		HeldLock lock = instance.locks().acquire(request);
		this.locks.add(lock);
		return lock;
	}

	/** The far replica hears nothing any more, for certain. */
	private void cutOff() {
		this.link.refuse();
		this.link.cut(Cut.RST);
		SentinelGroup.awaitReplicas(this.master, 1);
	}

	private static RedisServer promote(RedisServer replica) {
		replica.command("REPLICAOF", "NO", "ONE");
		return replica;
	}

	private Instance on(RedisServer server, int replicaAcks) {
		return on(Driver.LETTUCE, server, replicaAcks);
	}

	/** An instance that is connected, so that what follows is not delayed by that. */
	private Instance on(Driver driver, RedisServer server, int replicaAcks) {
		Instance instance = Instance.on(driver, server.port(), replicaAcks);
		this.instances.add(instance);
		await().atMost(Duration.ofMinutes(1))
			.ignoreExceptions()
			// another one each time: an attempt that failed may keep it
			.until(() -> instance.locks()
				.execute(LockRequest.of("warm-up " + System.nanoTime()).waitTime(Duration.ZERO), (lock) -> true));
		return instance;
	}

}
