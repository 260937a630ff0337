package io.github.lockspring.history;

import java.util.Collection;
import java.util.List;
import java.util.SplittableRandom;

import io.github.lockspring.redis.Driver;
import io.github.lockspring.testsupport.history.DataLoss;
import io.github.lockspring.testsupport.network.TcpProxy;
import io.github.lockspring.testsupport.redis.RedisServer;

/**
 * One redis-server; each worker has a proxy of its own.
 */
final class SingleServer implements Servers {

	private final RedisServer server = RedisServer.start();

	@Override
	public Way way(Driver driver) {
		TcpProxy proxy = new TcpProxy(this.server.port());
		return new Way(new Place(Place.Topology.SINGLE, driver, List.of(proxy.port())), List.of(proxy));
	}

	@Override
	public void make(FaultKind kind, SplittableRandom random, Collection<DataLoss> losses) throws InterruptedException {
		switch (kind) {
			case DATA_FLUSHED -> losses.add(DataLoss.during(this.server::flushAll));
			case SERVER_RESTARTED_EMPTY -> {
				losses.add(DataLoss.during(this.server::kill));
				if (random.nextBoolean()) {
					Faults.pause(random, 0, 1500);
				}
				this.server.restart();
			}
			case SERVER_STOPPED -> {
				this.server.pause();
				Faults.pause(random, 100, 3000);
				this.server.resume();
			}
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
