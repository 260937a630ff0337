package io.github.lockspring.benchmarks.contention;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import io.github.lockspring.benchmarks.adapter.AdapterKind;
import io.github.lockspring.benchmarks.adapter.LockAdapter;
import io.github.lockspring.benchmarks.adapter.Servers;
import io.github.lockspring.testsupport.redis.RedisServer;

/**
 * What stays on the server when many different locks were acquired and released once:
 * keys, and the memory that they take. Each library has a server of its own.
 */
public final class LeftoversBenchmark {

	private static final int THREADS = 16;

	private static final Duration TTL = Duration.ofSeconds(30);

	private LeftoversBenchmark() {
	}

	/**
	 * Runs it.
	 * @param args number of locks (default 1,000,000), directory for the results, and
	 * names of adapters (default: all peers on Redis)
	 */
	public static void main(String[] args) throws Exception {
		int locks = (args.length > 0) ? Integer.parseInt(args[0]) : 1_000_000;
		Path out = Path.of((args.length > 1) ? args[1] : "evidence/lock-benchmarks/target/leftovers");
		String names = (args.length > 2) ? args[2] : "floor,lockspring,redisson,spring-integration-spin,lock4j";
		Files.createDirectories(out);
		try (RawData raw = new RawData(out.resolve("leftovers.jsonl"))) {
			for (String name : names.split(",")) {
				try (RedisServer server = RedisServer.start()) {
					Map<String, Object> result = run(AdapterKind.of(name), server, locks);
					raw.write(result);
					System.out.println(result);
				}
			}
		}
	}

	private static Map<String, Object> run(AdapterKind kind, RedisServer server, int locks) throws Exception {
		LockAdapter adapter = kind.connect(new Servers(server.port(), "", "", "", TTL));
		ExecutorService threads = Executors.newFixedThreadPool(THREADS);
		try {
			adapter.runLocked("warm-up", () -> {
			});
			long memory = memory(server);
			server.command("CONFIG", "RESETSTAT");
			long start = System.nanoTime();
			List<Future<?>> done = new ArrayList<>();
			for (int thread = 0; thread < THREADS; thread++) {
				int first = thread;
				done.add(threads.submit(() -> {
					for (int lock = first; lock < locks; lock += THREADS) {
						adapter.runLocked("order:" + lock, () -> {
						});
					}
					return locks;
				}));
			}
			for (Future<?> each : done) {
				each.get();
			}
			Map<String, Object> result = new LinkedHashMap<>();
			result.put("adapter", kind.id());
			result.put("locks", locks);
			result.put("seconds", (System.nanoTime() - start) / 1e9);
			result.put("keys", server.command("DBSIZE"));
			result.put("bytes", memory(server) - memory);
			return result;
		}
		finally {
			threads.shutdownNow();
			adapter.close();
		}
	}

	private static long memory(RedisServer server) {
		return String.valueOf(server.command("INFO", "memory"))
			.lines()
			.filter((line) -> line.startsWith("used_memory:"))
			.mapToLong((line) -> Long.parseLong(line.substring(line.indexOf(':') + 1).trim()))
			.findFirst()
			.orElseThrow();
	}

}
