package io.github.lockspring.testsupport.history;

import java.util.Collection;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.IntFunction;

import io.github.lockspring.testsupport.history.HistoryChecker.DataLoss;
import io.github.lockspring.testsupport.network.TcpProxy;

/**
 * The servers of a history, which run from the beginning, and what may happen to them.
 *
 * @since 0.1
 */
public interface Servers extends AutoCloseable {

	/**
	 * Returns the class whose main calls {@link HistoryWorker#work} with its arguments,
	 * the first of which is a place.
	 */
	Class<?> worker();

	/**
	 * Creates a way for one worker, and those that take its place, to the servers.
	 * @param worker the number of the worker
	 */
	Way way(int worker);

	/**
	 * Makes a fault and ends it; one thread at a time.
	 * @param fault one that does not happen to a worker
	 * @param random makes the choices
	 * @param losses where to write down when data was, or may have been, lost
	 */
	void make(Fault fault, SplittableRandom random, Collection<DataLoss> losses) throws InterruptedException;

	/** Fails if there is more than should be when all locks have ended. */
	default void assertNothingIsLeft() {
	}

	@Override
	default void close() {
	}

	/**
	 * How a worker reaches the servers.
	 *
	 * @param place where it finds them, as its first argument
	 * @param proxies what it goes through; none where servers tell clients addresses
	 */
	record Way(String place, List<TcpProxy> proxies) {
	}

	/**
	 * One server, which its test closes; each worker has a proxy of its own. All that may
	 * happen to it is a pause.
	 *
	 * @param worker see {@link Servers#worker()}
	 * @param port its port
	 * @param place makes the place of the port of a proxy
	 * @param pause makes it silent
	 * @param resume ends that
	 */
	record OneServer(Class<?> worker, int port, IntFunction<String> place, Runnable pause,
			Runnable resume) implements Servers {

		/** The server stands still. */
		public enum ServerFault implements Fault {

			/** The server stands still. */
			SERVER_STOPPED

		}

		@Override
		public Way way(int number) {
			TcpProxy proxy = new TcpProxy(this.port);
			return new Way(this.place.apply(proxy.port()), List.of(proxy));
		}

		@Override
		public void make(Fault fault, SplittableRandom random, Collection<DataLoss> losses)
				throws InterruptedException {
			Faults.during(random, 100, 3000, this.pause, this.resume);
		}

	}

}
