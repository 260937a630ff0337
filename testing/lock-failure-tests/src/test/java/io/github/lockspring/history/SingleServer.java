package io.github.lockspring.history;

import java.util.Collection;
import java.util.List;
import java.util.SplittableRandom;

import io.github.lockspring.history.RedisWorker.Place;
import io.github.lockspring.testsupport.history.Fault;
import io.github.lockspring.testsupport.history.Faults;
import io.github.lockspring.testsupport.history.HistoryChecker.DataLoss;
import io.github.lockspring.testsupport.network.TcpProxy;
import io.github.lockspring.testsupport.redis.RedisServer;

/**
 * One redis-server; each worker has a proxy of its own.
 */
final class SingleServer extends RedisServers {

	private final RedisServer server = RedisServer.start();

	SingleServer() {
		super(Place.Topology.SINGLE);
	}

	@Override
	public Way way(int worker) {
		TcpProxy proxy = new TcpProxy(this.server.port());
		return way(worker, List.of(proxy.port()), List.of(proxy));
	}

	@Override
	public void make(Fault fault, SplittableRandom random, Collection<DataLoss> losses) throws InterruptedException {
		switch ((RedisFault) fault) {
			case DATA_FLUSHED -> losses.add(DataLoss.during(this.server::flushAll));
			case SERVER_RESTARTED_EMPTY -> {
				losses.add(DataLoss.during(this.server::kill));
				if (random.nextBoolean()) {
					Faults.pause(random, 0, 1500);
				}
				this.server.restart();
			}
			case SERVER_STOPPED -> Faults.during(random, 100, 3000, this.server::pause, this.server::resume);
			default -> makeOn(this.server, (RedisFault) fault);
		}
	}

	@Override
	List<RedisServer> keepers() {
		return List.of(this.server);
	}

	@Override
	public void close() {
		this.server.close();
	}

}
