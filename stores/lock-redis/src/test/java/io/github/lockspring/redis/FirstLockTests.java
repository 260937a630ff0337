package io.github.lockspring.redis;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.testsupport.network.TcpProxy;
import io.github.lockspring.testsupport.process.Conversation;
import io.github.lockspring.testsupport.process.JavaProcess;
import io.github.lockspring.testsupport.redis.RedisCluster;
import io.github.lockspring.testsupport.redis.RedisProcess;
import io.github.lockspring.testsupport.redis.RedisServer;
import io.github.lockspring.testsupport.redis.SentinelGroup;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The first lock of a JVM waits until there is a connection, which takes longer than a
 * command may; later ones do not. Each test waits for servers of its own most of the
 * time: several at once.
 */
@Execution(ExecutionMode.CONCURRENT)
@ParameterizedClass
@EnumSource
class FirstLockTests {

	private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(4);

	/** How long connecting takes here: longer than a command may. */
	private static final Duration CONNECTING = Duration.ofSeconds(5);

	private static final Duration PATIENT = Duration.ofMinutes(2);

	private static final LockRequest REQUEST = LockRequest.of("first-lock").waitTime(Duration.ZERO);

	@Parameter
	Driver driver;

	@Test
	void isAcquiredInASlowJvmOverASlowNetwork() throws Exception {
		try (RedisServer server = RedisServer.start(); TcpProxy proxy = new TcpProxy(server.port())) {
			List<String> slow = new ArrayList<>(JavaProcess.SMALL);
			slow.addAll(List.of("-Xint", "-XX:ActiveProcessorCount=1"));
			// not a byte arrives until the process asks for its lock
			proxy.hold();
			String name = "first-lock-" + this.driver + "-" + ProcessHandle.current().pid();
			try (JavaProcess process = new JavaProcess(name, Path.of("target"), slow, FirstLock.class,
					List.of(this.driver.name(), String.valueOf(proxy.port())))) {
				process.await("asks");
				after(CONNECTING).execute(proxy::restore);
				assertThat(process.hear(PATIENT.multipliedBy(2))).isEqualTo("held");
				process.awaitEnd();
			}
		}
	}

	@Test
	void isAcquiredWhenReplicasAcknowledgeIt() {
		try (RedisServer server = RedisServer.start();
				RedisServer replica = RedisServer.start();
				TcpProxy proxy = new TcpProxy(server.port())) {
			replica.command("REPLICAOF", server.host(), String.valueOf(server.port()));
			SentinelGroup.awaitReplicas(server, 1);
			proxy.hold();
			try (Instance instance = instance(this.driver, at(proxy.port()), 1, PATIENT)) {
				after(CONNECTING).execute(proxy::restore);
				acquireAndRelease(instance);
			}
		}
	}

	@Test
	void isAcquiredWhenSentinelsReplyLate() {
		try (SentinelGroup group = SentinelGroup.start()) {
			// only instances that look for the master themselves
			try (Instance instance = instance(this.driver, Driver.sentinels(group), 0, PATIENT)) {
				repliesLate(group.sentinels());
				acquireAndRelease(instance);
			}
		}
	}

	@Test
	void isAcquiredWhenNodesOfAClusterReplyLate() {
		try (RedisCluster cluster = RedisCluster.start()) {
			try (Instance instance = instance(this.driver, new RedisClusterConfiguration(cluster.addresses()), 0,
					PATIENT)) {
				repliesLate(cluster.nodes());
				acquireAndRelease(instance);
			}
		}
	}

	@Test
	void isUnavailableAtOnceWhenTheServerRefusesConnections() {
		try (RedisServer server = RedisServer.start()) {
			server.kill();
			try (Instance instance = instance(this.driver, server.port())) {
				for (int i = 0; i < 3; i++) {
					assertThat(unavailable(instance)).isLessThan(PATIENT.dividedBy(2));
				}
				server.restart();
				acquireAndRelease(instance);
			}
		}
	}

	@Test
	void onlyTheFirstOneWaitsForAServerThatNeverReplies() {
		try (TcpProxy proxy = new TcpProxy(RedisServer.shared().port())) {
			proxy.stall();
			Duration connectTimeout = COMMAND_TIMEOUT.multipliedBy(3);
			try (Instance instance = instance(this.driver, at(proxy.port()), 0, connectTimeout)) {
				assertThat(unavailable(instance)).isGreaterThan(connectTimeout);
				assertThat(unavailable(instance)).isLessThan(connectTimeout);
				proxy.restore();
				acquireAndRelease(instance, Duration.ofMinutes(1));
			}
		}
	}

	@Test
	void laterOnesDoNotWaitLongerThanForACommand() {
		try (RedisServer server = RedisServer.start(); Instance instance = instance(this.driver, server.port())) {
			acquireAndRelease(instance);
			server.pause();
			assertThat(unavailable(instance)).isLessThan(PATIENT.dividedBy(2));
			server.resume();
		}
	}

	private static Instance instance(Driver driver, int port) {
		return instance(driver, at(port), 0, PATIENT);
	}

	private static Instance instance(Driver driver, RedisConfiguration where, int replicaAcks,
			Duration connectTimeout) {
		return Instance.on(driver, where, replicaAcks, COMMAND_TIMEOUT, connectTimeout);
	}

	private static RedisConfiguration at(int port) {
		return new RedisStandaloneConfiguration("127.0.0.1", port);
	}

	private static Executor after(Duration time) {
		return CompletableFuture.delayedExecutor(time.toMillis(), TimeUnit.MILLISECONDS);
	}

	private static void repliesLate(List<? extends RedisProcess> servers) {
		servers.forEach(RedisProcess::pause);
		after(CONNECTING).execute(() -> servers.forEach(RedisProcess::resume));
	}

	private static void acquireAndRelease(Instance instance) {
		acquireAndRelease(instance, Duration.ZERO);
	}

	private static void acquireAndRelease(Instance instance, Duration waitTime) {
		HeldLock lock = instance.locks().acquire(REQUEST.waitTime(waitTime));
		assertThat(lock.isHeld()).isTrue();
		lock.close();
	}

	private static Duration unavailable(Instance instance) {
		long start = System.nanoTime();
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> instance.locks().acquire(REQUEST));
		return Duration.ofNanos(System.nanoTime() - start);
	}

	/**
	 * Acquires a lock as the first thing that it does.
	 */
	static final class FirstLock {

		private FirstLock() {
		}

		public static void main(String[] args) {
			Conversation test = new Conversation();
			try (Instance instance = instance(Driver.valueOf(args[0]), Integer.parseInt(args[1]))) {
				test.say("asks");
				test.say(instance.locks().execute(REQUEST, (lock) -> "held"));
			}
			catch (LockUnavailableException ex) {
				test.say(ex.getMessage());
			}
		}

	}

}
