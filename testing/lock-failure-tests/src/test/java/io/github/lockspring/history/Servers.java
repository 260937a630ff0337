package io.github.lockspring.history;

import java.util.Collection;
import java.util.List;
import java.util.SplittableRandom;

import io.github.lockspring.history.HistoryWorker.Place;
import io.github.lockspring.redis.Driver;
import io.github.lockspring.testsupport.history.HistoryChecker.DataLoss;
import io.github.lockspring.testsupport.network.TcpProxy;
import io.github.lockspring.testsupport.redis.RedisServer;

/**
 * The servers of a history test, which run from the beginning, and what may happen to
 * them.
 */
interface Servers extends AutoCloseable {

	/** Creates a way for one worker, and those that take its place, to the servers. */
	Way way(Driver driver);

	/**
	 * Makes a fault and ends it; one thread at a time.
	 * @param kind one of those that do not happen to a worker
	 * @param random makes the choices
	 * @param losses where to write down when data was, or may have been, lost
	 */
	void make(FaultKind kind, SplittableRandom random, Collection<DataLoss> losses) throws InterruptedException;

	/** Returns the servers that have keys of their own when nothing fails. */
	List<RedisServer> keepers();

	@Override
	void close();

	/** Makes a fault that is the same for servers of all topologies. */
	static void makeOn(RedisServer server, FaultKind kind) {
		switch (kind) {
			case CLIENTS_KILLED -> server.command("CLIENT", "KILL", "TYPE", "normal");
			case SUBSCRIBERS_KILLED -> server.command("CLIENT", "KILL", "TYPE", "pubsub");
			case SCRIPTS_FLUSHED -> server.command("SCRIPT", "FLUSH");
			default -> throw new IllegalArgumentException(kind.name());
		}
	}

	/** Kills a master whose replicas have heard nothing of it for some milliseconds. */
	static void killAhead(RedisServer master, List<RedisServer> replicas, SplittableRandom random, int least, int most)
			throws InterruptedException {
		replicas.forEach(RedisServer::pause);
		// they would read what was already sent when they are resumed
		master.command("CLIENT", "KILL", "TYPE", "replica");
		Faults.pause(random, least, most);
		master.kill();
		replicas.forEach(RedisServer::resume);
	}

	/**
	 * How a worker reaches the servers.
	 *
	 * @param place where it finds them
	 * @param proxies what it goes through; none where servers tell clients addresses
	 */
	record Way(Place place, List<TcpProxy> proxies) {

	}

	/**
	 * One redis-server; each worker has a proxy of its own.
	 */
	class SingleServer implements Servers {

		private final RedisServer server = RedisServer.start();

		@Override
		public Way way(Driver driver) {
			TcpProxy proxy = new TcpProxy(this.server.port());
			return new Way(new Place(Place.Topology.SINGLE, driver, List.of(proxy.port())), List.of(proxy));
		}

		@Override
		public void make(FaultKind kind, SplittableRandom random, Collection<DataLoss> losses)
				throws InterruptedException {
			switch (kind) {
				case DATA_FLUSHED -> losses.add(DataLoss.during(this.server::flushAll));
				case SERVER_RESTARTED_EMPTY -> {
					losses.add(DataLoss.during(this.server::kill));
					if (random.nextBoolean()) {
						Faults.pause(random, 0, 1500);
					}
					this.server.restart();
				}
				case SERVER_STOPPED -> Faults.during(random, 100, 3000, this.server::pause, this.server::resume);
				default -> Servers.makeOn(this.server, kind);
			}
		}

		@Override
		public List<RedisServer> keepers() {
			return List.of(this.server);
		}

		@Override
		public void close() {
			this.server.close();
		}

	}

}
