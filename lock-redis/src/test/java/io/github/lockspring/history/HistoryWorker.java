package io.github.lockspring.history;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.github.lockspring.engine.EngineSettings;
import io.github.lockspring.engine.LockEngine;
import io.github.lockspring.store.LockStore;

/**
 * A process of the history test: an instance of an application, with threads that take
 * the same few locks in all possible ways until they are told to stop. Talks with the
 * test over its standard streams, a line for a line.
 */
final class HistoryWorker {

	/** What the test says; each is answered by a line. */
	static final String CLOCK = "clock";

	static final String PROGRESS = "progress";

	static final String STOP = "stop";

	/** What the worker says by itself. */
	static final String READY = "ready";

	static final String STOPPED = "stopped";

	private HistoryWorker() {
	}

	/**
	 * Runs a worker.
	 * @param args place, file of events, seed, number of threads, keys, leases in
	 * milliseconds
	 */
	public static void main(String[] args) throws Exception {
		SplittableRandom random = new SplittableRandom(Long.parseLong(args[2]));
		int count = Integer.parseInt(args[3]);
		List<String> keys = List.of(args[4].split(","));
		List<Duration> ttls = Stream.of(args[5].split(",")).map(Long::valueOf).map(Duration::ofMillis).toList();
		try (EventLog events = new EventLog(Path.of(args[1]));
				LockStore store = Place.parse(args[0]).store(Collections.max(ttls));
				LockEngine engine = new LockEngine(new RecordingStore(store, events), settings(), List.of())) {
			Workload workload = new Workload(engine.template(), events, keys, ttls);
			ExecutorService threads = Executors.newCachedThreadPool();
			for (int i = 0; i < count; i++) {
				SplittableRandom own = random.split();
				threads.execute(() -> workload.run(own));
			}
			answer(READY);
			converse(workload);
			workload.stop();
			threads.shutdown();
			if (!threads.awaitTermination(20, TimeUnit.SECONDS)) {
				events.fault("The workload did not end");
			}
		}
		// no exit: the process ends by itself unless a thread was left behind
		answer(STOPPED);
	}

	private static EngineSettings settings() {
		EngineSettings defaults = EngineSettings.defaults();
		return new EngineSettings(defaults.ttl(), defaults.waitTime(), null, Place.COMMAND_TIMEOUT,
				defaults.renewalInterval(), defaults.renewalBatchSize(), defaults.maxTenure(), Duration.ofSeconds(5));
	}

	private static void converse(Workload workload) throws IOException {
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		while (true) {
			String line = in.readLine();
			if (line == null) {
				// the test is gone
				Runtime.getRuntime().halt(1);
				return;
			}
			switch (line) {
				case CLOCK -> answer(String.valueOf(System.nanoTime()));
				case PROGRESS -> answer(workload.progress());
				case STOP -> {
					return;
				}
				default -> throw new IllegalArgumentException(line);
			}
		}
	}

	private static void answer(String line) {
		System.out.println(line);
	}

}
