package io.github.lockspring.history;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;

import io.github.lockspring.engine.EngineSettings;
import io.github.lockspring.engine.LockEngine;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.testsupport.history.EventLog;
import io.github.lockspring.testsupport.history.RecordingStore;
import io.github.lockspring.testsupport.history.Workload;
import io.github.lockspring.testsupport.process.Conversation;

/**
 * A process of the history test: an instance of an application, with threads that take
 * the same few locks in all possible ways until they are told to stop.
 */
final class HistoryWorker {

	/** What the test says; each is answered by a line. */
	static final String CLOCK = "clock";

	static final String PROGRESS = "progress";

	static final String STOP = "stop";

	/** What the worker says. */
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
		Conversation test = new Conversation();
		List<Duration> ttls = Stream.of(args[5].split(",")).map(Long::valueOf).map(Duration::ofMillis).toList();
		EngineSettings defaults = EngineSettings.defaults();
		EngineSettings settings = new EngineSettings(defaults.ttl(), defaults.waitTime(), null, Place.COMMAND_TIMEOUT,
				defaults.renewalInterval(), defaults.renewalBatchSize(), defaults.maxTenure(), Duration.ofSeconds(5));
		try (EventLog events = new EventLog(Path.of(args[1]));
				LockStore store = Place.parse(args[0]).store(Collections.max(ttls));
				LockEngine engine = new LockEngine(new RecordingStore(store, events), settings, List.of())) {
			Workload workload = new Workload(engine.template(), events, List.of(args[4].split(",")), ttls);
			workload.start(Integer.parseInt(args[3]), new SplittableRandom(Long.parseLong(args[2])));
			test.say(READY);
			for (String line = test.hear(); !line.equals(STOP); line = test.hear()) {
				test.say(line.equals(CLOCK) ? System.nanoTime() : workload.progress());
			}
			workload.stop();
		}
		// no exit: the process ends unless a thread was left behind
		test.say(STOPPED);
	}

}
