package io.github.lockspring.engine.support;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

/**
 * Tells the first failure of an outage of a server from those that follow, so that an
 * outage is one line of the log and not one for each lock. An outage ends with the first
 * answer after a while without failures: a server that answers now and then has one.
 * Thread-safe.
 */
final class Outages {

	private static final long QUIET_NANOS = 10_000_000_000L;

	/**
	 * An outage.
	 *
	 * @param since the time of the first failure
	 * @param failures their number
	 */
	record Outage(long since, AtomicInteger failures) {
	}

	private record Known(Outage outage, long last) {
	}

	private final Map<String, Known> known = new ConcurrentHashMap<>();

	/**
	 * Returns whether there is no outage. Costs next to nothing.
	 */
	boolean isEmpty() {
		return this.known.isEmpty();
	}

	/**
	 * A request had no result.
	 * @return whether it is the first one of an outage
	 */
	boolean failed(String shard, long now) {
		Known present = this.known.compute(shard, (name,
				before) -> new Known((before != null) ? before.outage() : new Outage(now, new AtomicInteger()), now));
		return present.outage().failures().incrementAndGet() == 1;
	}

	/**
	 * A request had a result.
	 * @return the outage that has ended with it, or null
	 */
	@Nullable Outage answered(String shard, long now) {
		Known present = this.known.get(shard);
		boolean ended = present != null && now - present.last() >= QUIET_NANOS && this.known.remove(shard, present);
		return (present != null && ended) ? present.outage() : null;
	}

}
