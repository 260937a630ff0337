package io.github.lockspring.testsupport.history;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;

import io.github.lockspring.internal.engine.EngineSettings;
import io.github.lockspring.internal.engine.LockEngine;
import io.github.lockspring.internal.engine.support.LockEvents;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.testsupport.process.Conversation;

/**
 * A process of a history: an instance of an application, with threads that take the same
 * few locks in all possible ways until they are ordered to stop.
 *
 * @since 0.1
 */
public final class HistoryWorker {

	/** The orders of the test; each is answered by a line. */
	static final String PROGRESS = "progress";

	static final String STOP = "stop";

	/** The answers of the worker. */
	static final String READY = "ready";

	static final String STOPPED = "stopped";

	private static final int THREADS = 6;

	private HistoryWorker() {
	}

	/**
	 * Runs a worker.
	 * @param arguments those of its main: place, file of events, seed, keys, leases in
	 * milliseconds
	 * @param store the locks; closed by the caller
	 * @param remembers as {@link RecordingStore}
	 * @param commandTimeout longest wait for an answer
	 */
	public static void work(String[] arguments, LockStore store, boolean remembers, Duration commandTimeout)
			throws Exception {
		Conversation test = new Conversation();
		EngineSettings defaults = EngineSettings.defaults();
		EngineSettings settings = new EngineSettings(defaults.ttl(), defaults.waitTime(), null, commandTimeout,
				Duration.ofSeconds(5), false);
		try (EventLog events = new EventLog(Path.of(arguments[1]));
				LockEngine engine = new LockEngine(new RecordingStore(store, events, remembers), settings,
						LockEvents.NOBODY)) {
			Workload workload = new Workload(engine.template(), events, List.of(arguments[3].split(",")),
					ttls(arguments));
			workload.start(THREADS, new SplittableRandom(Long.parseLong(arguments[2])));
			test.say(READY);
			for (String line = test.hear(); !line.equals(STOP); line = test.hear()) {
				test.say(workload.progress());
			}
			workload.stop();
		}
		// no exit: the process ends unless a thread was left behind
		test.say(STOPPED);
	}

	/** Returns the leases that a worker takes. */
	public static List<Duration> ttls(String[] arguments) {
		return Stream.of(arguments[4].split(",")).map(Long::valueOf).map(Duration::ofMillis).toList();
	}

}
