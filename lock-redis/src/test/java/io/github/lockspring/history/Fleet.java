package io.github.lockspring.history;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.ReentrantLock;

import io.github.lockspring.redis.Driver;
import io.github.lockspring.testsupport.process.JavaProcess;
import io.github.lockspring.testsupport.network.TcpProxy;

/**
 * Some workers, and the servers that they speak with.
 */
final class Fleet implements AutoCloseable {

	/*
	 * The test's thread starts and ends it; meanwhile the threads that make faults take
	 * the lock of a member for as long as they do something to it.
	 */

	final Servers servers;

	final ReentrantLock serversLock = new ReentrantLock();

	final List<Member> members = new ArrayList<>();

	/** When data was lost, or may have been. */
	final ConcurrentLinkedQueue<DataLoss> losses = new ConcurrentLinkedQueue<>();

	private final Path directory;

	private final long seed;

	private final List<String> keys;

	private final List<Integer> ttls;

	private final int threads;

	Fleet(Servers servers, Path directory, long seed, int workers, List<String> keys, List<Integer> ttls, int threads) {
		this.servers = servers;
		this.directory = directory;
		this.seed = seed;
		this.keys = keys;
		this.ttls = ttls;
		this.threads = threads;
		for (int i = 0; i < workers; i++) {
			// every third one speaks through the other driver
			this.members.add(new Member(i + 1, (i % 3 == 2) ? Driver.JEDIS : Driver.LETTUCE));
		}
		for (Member member : this.members) {
			member.worker.await(HistoryWorker.READY);
			member.checkClock();
		}
	}

	/** The files of all workers there were, by name. */
	Map<String, Path> files() {
		Map<String, Path> files = new LinkedHashMap<>();
		for (Member member : this.members) {
			for (int generation = 1; generation <= member.generation; generation++) {
				String name = member.name(generation);
				files.put(name, this.directory.resolve(name + ".events"));
			}
		}
		return files;
	}

	void stopWorkers() throws InterruptedException {
		for (Member member : this.members) {
			member.worker.say(HistoryWorker.STOP);
		}
		for (Member member : this.members) {
			member.worker.await(HistoryWorker.STOPPED);
			member.worker.awaitEnd();
		}
	}

	@Override
	public void close() {
		this.members.forEach((member) -> {
			member.worker.close();
			member.way.proxies().forEach(TcpProxy::close);
		});
		this.servers.close();
	}

	/**
	 * A worker and those that took its place, with their way to the servers.
	 */
	final class Member {

		final ReentrantLock lock = new ReentrantLock();

		final Servers.Way way;

		private final int number;

		private int generation;

		volatile JavaProcess worker;

		Member(int number, Driver driver) {
			this.number = number;
			this.way = Fleet.this.servers.way(driver);
			this.worker = start();
		}

		String name(int generation) {
			return "worker-" + this.number + "." + generation;
		}

		JavaProcess start() {
			this.generation++;
			String name = name(this.generation);
			List<String> arguments = new ArrayList<>(
					List.of(this.way.place().toString(), Fleet.this.directory.resolve(name + ".events").toString(),
							String.valueOf(Fleet.this.seed + 1000L * this.number + this.generation),
							String.valueOf(Fleet.this.threads)));
			arguments.add(String.join(",", Fleet.this.keys));
			arguments.add(String.join(",", Fleet.this.ttls.stream().map(String::valueOf).toList()));
			this.worker = new JavaProcess(name, Fleet.this.directory, HistoryWorker.class, arguments);
			return this.worker;
		}

		/**
		 * All times in a history must be of one clock. System.nanoTime() is the system's
		 * monotonic clock on Linux and macOS, which counts for the whole machine; where
		 * it is not, this fails.
		 */
		void checkClock() {
			long before = System.nanoTime();
			long there = Long.parseLong(this.worker.ask(HistoryWorker.CLOCK));
			long after = System.nanoTime();
			if (there < before || there > after) {
				throw new AssertionError("The processes do not share a clock: " + this.worker.name() + " says " + there
						+ " between " + before + " and " + after + " here");
			}
		}

		/** How often each key was granted. */
		List<Integer> progress() {
			List<Integer> progress = new ArrayList<>();
			for (String count : this.worker.ask(HistoryWorker.PROGRESS).split(" ")) {
				progress.add(Integer.valueOf(count));
			}
			return progress;
		}

	}

}
