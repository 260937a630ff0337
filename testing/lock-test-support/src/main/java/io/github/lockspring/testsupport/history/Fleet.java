package io.github.lockspring.testsupport.history;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.lockspring.testsupport.history.HistoryChecker.DataLoss;
import io.github.lockspring.testsupport.network.TcpProxy;
import io.github.lockspring.testsupport.process.JavaProcess;

/**
 * Some workers, and the servers that they speak with.
 */
/*
 * For maintainers: the test's thread starts and ends it; meanwhile the threads that make
 * faults take the lock of a member for as long as they do something to it.
 */
final class Fleet implements AutoCloseable {

	final Servers servers;

	final ReentrantLock serversLock = new ReentrantLock();

	final List<Member> members = new ArrayList<>();

	/** When data was lost, or may have been. */
	final ConcurrentLinkedQueue<DataLoss> losses = new ConcurrentLinkedQueue<>();

	private final Path directory;

	private final long seed;

	private final List<Integer> ttls;

	Fleet(Servers servers, Path directory, long seed, int workers, List<Integer> ttls) {
		this.servers = servers;
		this.directory = directory;
		this.seed = seed;
		this.ttls = ttls;
		for (int i = 0; i < workers; i++) {
			this.members.add(new Member(i + 1));
		}
		this.members.forEach((member) -> member.worker.await(HistoryWorker.READY));
	}

	/** Returns the files of all workers that were started, by name. */
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
		this.members.forEach((member) -> member.worker.say(HistoryWorker.STOP));
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

		Member(int number) {
			this.number = number;
			this.way = Fleet.this.servers.way(number);
			this.worker = start();
		}

		private String name(int generation) {
			return "worker-" + this.number + "." + generation;
		}

		JavaProcess start() {
			this.generation++;
			String name = name(this.generation);
			this.worker = new JavaProcess(name, Fleet.this.directory, Fleet.this.servers.worker(),
					List.of(this.way.place(), Fleet.this.directory.resolve(name + ".events").toString(),
							String.valueOf(Fleet.this.seed + 1000L * this.number + this.generation), "k0,k1,k2",
							Fleet.this.ttls.stream().map(String::valueOf).collect(Collectors.joining(","))));
			return this.worker;
		}

		/** Returns how often each key was granted. */
		List<Integer> progress() {
			return Stream.of(this.worker.ask(HistoryWorker.PROGRESS).split(" ")).map(Integer::valueOf).toList();
		}

	}

}
