package io.github.lockspring.history;

import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

import io.github.lockspring.redis.Driver;
import io.github.lockspring.testsupport.redis.RedisServer;
import io.github.lockspring.testsupport.network.TcpProxy;

/**
 * The servers of a history test, which run from the beginning, and what may happen to
 * them.
 */
interface Servers extends AutoCloseable {

	/**
	 * A way for one worker, and those that take its place, to the servers.
	 */
	Way way(Driver driver);

	/**
	 * The faults that can be made here, those of workers included.
	 */
	Set<FaultKind> faults();

	/**
	 * Makes a fault and ends it; one thread at a time.
	 * @param kind one of those that do not happen to a worker
	 * @param random makes the choices
	 * @param losses where to write down when data was, or may have been, lost
	 */
	void make(FaultKind kind, SplittableRandom random, Collection<DataLoss> losses) throws InterruptedException;

	/**
	 * Those that have keys of their own, when nothing fails.
	 */
	List<RedisServer> keepers();

	@Override
	void close();

	/**
	 * How a worker reaches the servers.
	 *
	 * @param place where it finds them
	 * @param proxies what it goes through; may be none, where it is told addresses by the
	 * servers
	 */
	record Way(Place place, List<TcpProxy> proxies) {
	}

}
