package io.github.lockspring.failure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockRequest;
import io.github.lockspring.redis.Driver;
import io.github.lockspring.redis.Instance;
import io.github.lockspring.testsupport.redis.RedisServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Releases that are not waited for, on a real server.
 */
class AsyncReleaseFailureTests {

	private static final LockRequest REQUEST = LockRequest.of("order:42")
		.ttl(Duration.ofSeconds(20))
		.waitTime(Duration.ofSeconds(30));

	private static final Duration TIMEOUT = Duration.ofSeconds(1);

	private final RedisServer redis = RedisServer.start();

	private final List<Instance> instances = new ArrayList<>();

	@AfterEach
	void stop() {
		this.redis.resume();
		this.instances.forEach(Instance::close);
		this.redis.close();
	}

	private RedisStandaloneConfiguration here() {
		return new RedisStandaloneConfiguration("127.0.0.1", this.redis.port());
	}

	private Instance instance(Driver driver) {
		Instance instance = Instance.releasingAsync(driver, here(), TIMEOUT);
		this.instances.add(instance);
		return instance;
	}

	@ParameterizedTest
	@EnumSource
	@Tag("async-releases")
	void nextCallerOfTheInstanceNeverFindsTheLockBusy(Driver driver) {
		Instance instance = instance(driver);
		long last = 0;
		for (int i = 0; i < 500; i++) {
			HeldLock lock = instance.locks().acquire(REQUEST);
			assertThat(lock.fencingToken()).isGreaterThan(last);
			last = lock.fencingToken();
			lock.close();
		}
		await().until(() -> !this.redis.exists("lock:order:42"));
		// a caller that finds it busy joins the queue
		assertThat(this.redis.calls("zadd")).isZero();
		assertThat(instance.events(LockEvent.Lost.class)).isEmpty();
	}

	@ParameterizedTest
	@EnumSource
	@Tag("async-releases")
	void f27ReleaseThatTheServerDoesNotKnowIsSentAgain(Driver driver) {
		Instance instance = instance(driver);
		for (int i = 0; i < 5; i++) {
			HeldLock lock = instance.locks().acquire(REQUEST);
			this.redis.command("SCRIPT", "FLUSH");
			lock.close();
			await().until(() -> !this.redis.exists("lock:order:42"));
		}
		assertThat(instance.events(LockEvent.Lost.class)).isEmpty();
	}

	@ParameterizedTest
	@EnumSource
	void callerDoesNotWaitForAServerThatIsStopped(Driver driver) {
		Instance instance = Instance.releasingAsync(driver, here(), Duration.ofSeconds(10));
		this.instances.add(instance);
		HeldLock lock = instance.locks().acquire(REQUEST.ttl(Duration.ofMinutes(1)));
		this.redis.pause();
		long start = System.nanoTime();
		lock.close();
		// one who waits does so for ten seconds
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(6));
		this.redis.resume();
		awaitReleased();
		assertThat(instance(driver).locks().tryAcquire(REQUEST)).isPresent();
	}

	@ParameterizedTest
	@EnumSource
	@Tag("async-releases")
	void f07ReleaseOnAConnectionThatIsCutIsRepeated(Driver driver) {
		Instance instance = instance(driver);
		HeldLock lock = instance.locks().acquire(REQUEST);
		this.redis.pause();
		lock.close();
		// the release waits in the socket; its connection ends with it
		this.redis.resume();
		this.redis.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
		awaitReleased();
		assertThat(instance.events(LockEvent.Lost.class)).isEmpty();
	}

	@Test
	void serverThatRefusesDigestsGetsTheText() {
		this.redis.command("ACL", "SETUSER", "restricted", "on", ">secret", "~*", "&*", "+@all", "-evalsha", "-script");
		RedisStandaloneConfiguration where = new RedisStandaloneConfiguration("127.0.0.1", this.redis.port());
		where.setUsername("restricted");
		where.setPassword("secret");
		Instance instance = Instance.releasingAsync(Driver.LETTUCE, where, TIMEOUT);
		this.instances.add(instance);
		for (int i = 0; i < 3; i++) {
			instance.locks().acquire(REQUEST).close();
			awaitReleased();
		}
	}

	/** Long before the end of its lease. */
	private void awaitReleased() {
		await().atMost(10, TimeUnit.SECONDS).until(() -> !this.redis.exists("lock:order:42"));
	}

}
