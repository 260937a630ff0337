package io.github.lockspring.testsupport.history;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.IntFunction;
import java.util.stream.Collectors;

import io.github.lockspring.testsupport.history.HistoryChecker.DataLoss;
import io.github.lockspring.testsupport.network.TcpProxy;

/**
 * Servers of which a majority decides; each worker has a proxy of its own to each of
 * them. Requests of the workers fail while a server stands still, and are executed when
 * it goes on.
 *
 * @param worker see {@link Servers#worker()}
 * @param servers the servers, which their test closes
 * @param address makes an address of the port of a proxy; a place is all of them, divided
 * by commas
 * @param revoking for how long a leader that stood still, and goes on, may end locks that
 * its successor keeps: a known defect of the servers, after which nothing else can be
 * expected; zero if they have none
 * @since 0.1
 */
public record ServerGroup(Class<?> worker, List<? extends Server> servers, IntFunction<String> address,
		Duration revoking) implements Servers {

	private static final int SHORTEST_STOP = 500;

	private static final int LONGEST_STOP = 8000;

	/**
	 * One of the servers.
	 */
	public interface Server {

		/** Returns the port for clients. */
		int port();

		/** Returns whether this server reports itself as the leader. */
		boolean isLeader();

		/** Makes it stand still. */
		void pause();

		/** Ends that. */
		void resume();

		/** Kills it. */
		void kill();

		/** Starts it after it was killed, with its data. */
		void start();

	}

	/** The faults of a server. */
	public enum ServerFault implements Fault {

		/** Any server stands still. */
		SERVER_STOPPED,
		/** The leader stands still. */
		LEADER_STOPPED,
		/** The leader is killed, and comes back. */
		LEADER_KILLED

	}

	@Override
	public Way way(int number) {
		List<TcpProxy> proxies = this.servers.stream().map((server) -> new TcpProxy(server.port())).toList();
		return new Way(
				proxies.stream().map((proxy) -> this.address.apply(proxy.port())).collect(Collectors.joining(",")),
				proxies);
	}

	@Override
	public void make(Fault fault, SplittableRandom random, Collection<DataLoss> losses) throws InterruptedException {
		Server any = this.servers.get(random.nextInt(this.servers.size()));
		Server server = (fault == ServerFault.SERVER_STOPPED) ? any : leaderOr(any);
		if (fault == ServerFault.LEADER_KILLED) {
			Faults.during(random, 0, 2000, server::kill, server::start);
		}
		else {
			boolean leads = server.isLeader();
			Faults.during(random, SHORTEST_STOP, LONGEST_STOP, server::pause, () -> {
				if (leads && !this.revoking.isZero()) {
					long now = System.nanoTime();
					losses.add(new DataLoss(now, now + this.revoking.toNanos()));
				}
				server.resume();
			});
		}
	}

	private Server leaderOr(Server other) {
		for (Server server : this.servers) {
			if (server.isLeader()) {
				return server;
			}
		}
		return other;
	}

}
