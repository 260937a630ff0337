package io.github.lockspring.redis.redlock;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.github.lockspring.testsupport.store.JoinedStore;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.redis.Driver;
import io.github.lockspring.redis.StoreFixture;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult.Acquired;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.testsupport.process.JavaProcess;
import io.github.lockspring.testsupport.process.RunDirectory;
import io.github.lockspring.testsupport.redis.RedisServer;
import io.github.lockspring.testsupport.redis.RedlockServers;
import io.github.lockspring.testsupport.redis.RespClient;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Instances that all want the same lock on five servers, round after round. In the build
 * they are few rounds in one JVM; at length four JVMs, with
 * {@code mvn -Ptopologies -pl :lock-failure-tests -am test}.
 */
class RedlockRoundsTests {

	private static final int CONTENDERS = 4;

	private static final int GIVEN = Integer.getInteger("lockspring.topology.rounds", 0);

	private static final int ROUNDS = (GIVEN > 0) ? 10 * GIVEN : 40;

	@Test
	@Timeout(value = 1, unit = TimeUnit.HOURS)
	void contendersNeverHoldItTogetherAndTheirTokensGrow() throws Exception {
		try (RedlockServers servers = RedlockServers.start(5); RedisServer guard = RedisServer.start()) {
			guard.command("SET", "rounds", String.valueOf(ROUNDS));
			List<String> arguments = new ArrayList<>(List.of(String.valueOf(guard.port())));
			servers.all().forEach((server) -> arguments.add(String.valueOf(server.port())));
			long start = System.nanoTime();
			if (GIVEN > 0) {
				contendAsProcesses(arguments);
			}
			else {
				contendAsThreads(arguments);
			}
			System.out.printf("%d rounds of %d contenders on 5 servers took %d ms%n", ROUNDS, CONTENDERS,
					Duration.ofNanos(System.nanoTime() - start).toMillis());
			assertThat(guard.command("LRANGE", "wrong", "0", "-1")).isEqualTo(List.of());
			assertThat(Long.parseLong(Objects.requireNonNull(guard.get("rounds")))).isLessThanOrEqualTo(0);
		}
	}

	private static void contendAsThreads(List<String> arguments) throws Exception {
		ExecutorService executor = Executors.newFixedThreadPool(CONTENDERS);
		try {
			List<Future<?>> contenders = new ArrayList<>();
			for (int i = 0; i < CONTENDERS; i++) {
				contenders.add(executor.submit(() -> {
					Contender.main(arguments.toArray(String[]::new));
					return null;
				}));
			}
			for (Future<?> contender : contenders) {
				contender.get();
			}
		}
		finally {
			executor.shutdownNow();
		}
	}

	private static void contendAsProcesses(List<String> arguments) throws Exception {
		Path directory = RunDirectory.of("redlock-rounds");
		List<JavaProcess> processes = Stream.iterate(1, (number) -> number + 1)
			.limit(CONTENDERS)
			.map((number) -> new JavaProcess("contender-" + number, directory, Contender.class, arguments))
			.toList();
		try {
			for (JavaProcess process : processes) {
				process.awaitEnd();
			}
		}
		finally {
			processes.forEach(JavaProcess::close);
		}
	}

	/**
	 * Takes the lock until all rounds have been played. Another server counts who is
	 * inside, and remembers the last token.
	 */
	static final class Contender {

		private static final Duration TIMEOUT = Duration.ofSeconds(10);

		private Contender() {
		}

		public static void main(String[] args) throws Exception {
			int[] ports = Stream.of(args).skip(1).mapToInt(Integer::parseInt).toArray();
			RedlockSettings settings = new RedlockSettings("lock:", TIMEOUT, TIMEOUT, Duration.ofSeconds(3), 0.01,
					Duration.ofSeconds(30), true);
			try (RespClient guard = new RespClient(Integer.parseInt(args[0]), Duration.ofSeconds(20));
					RedlockLockStore store = RedlockLockStore.create(Driver.LETTUCE.redlockNodes(ports), settings)) {
				boolean more = true;
				while (more) {
					OwnerToken token = StoreFixture.token();
					long fencingToken = acquire(store, token);
					more = play(guard, fencingToken);
					new JoinedStore(store).release(new ReleaseRequest("round", token), TIMEOUT);
				}
			}
		}

		/** Tries much more often than waiters do, so that votes are split. */
		private static long acquire(RedlockLockStore store, OwnerToken token) throws InterruptedException {
			AcquireRequest request = new AcquireRequest("round", token, Duration.ofSeconds(30), false);
			while (true) {
				Thread.sleep(ThreadLocalRandom.current().nextInt(6));
				try {
					if (new JoinedStore(store).acquire(request, TIMEOUT) instanceof Acquired acquired) {
						return acquired.fencingToken();
					}
				}
				catch (LockUnavailableException ex) {
					// connecting takes its time
				}
			}
		}

		private static boolean play(RespClient guard, long token) throws Exception {
			if ((Long) guard.command("INCR", "inside") != 1) {
				guard.command("RPUSH", "wrong", "two holders");
			}
			String last = (String) guard.command("GETSET", "token", String.valueOf(token));
			if (last != null && Long.parseLong(last) >= token) {
				guard.command("RPUSH", "wrong", token + " after " + last);
			}
			boolean more = (Long) guard.command("DECR", "rounds") > 0;
			guard.command("DECR", "inside");
			return more;
		}

	}

}
