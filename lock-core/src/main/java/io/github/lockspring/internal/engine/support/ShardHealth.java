package io.github.lockspring.internal.engine.support;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

/**
 * Remembers whether the servers of a store answer: the one memory of outages. A server is
 * <em>silent</em> from the first request without an answer in time until any answer. An
 * outage begins with the first request without a result, and ends with the first answer
 * after a while without failures, so that an outage is one line of the log and not one
 * for each lock: a server that answers now and then has one. Thread-safe.
 *
 * @since 0.1
 */
public final class ShardHealth {

	private static final long QUIET_NANOS = 10_000_000_000L;

	/**
	 * An outage of a server.
	 *
	 * @param since the time of the first failure
	 * @param last the time of the last failure
	 * @param silent whether nothing has been answered since
	 * @param reported whether the log reports it
	 */
	public record Outage(long since, long last, boolean silent, boolean reported) {
	}

	private final Map<String, Outage> outages = new ConcurrentHashMap<>();

	/**
	 * Creates a memory without outages.
	 */
	public ShardHealth() {
	}

	/**
	 * A request had no result.
	 * @param shard the server
	 * @param silent whether there was no answer at all
	 * @param report whether that is to be reported
	 * @param now the present time
	 * @return whether it is to be reported and is the first one of an outage
	 */
	public boolean failed(String shard, boolean silent, boolean report, long now) {
		boolean[] first = new boolean[1];
		this.outages.compute(shard, (name, before) -> {
			first[0] = report && (before == null || !before.reported);
			return (before == null) ? new Outage(now, now, silent, report)
					: new Outage(before.since, now, before.silent || silent, before.reported || report);
		});
		return first[0];
	}

	/**
	 * Returns whether there is no outage. Costs next to nothing.
	 * @return false if {@link #answered} has something to do
	 */
	public boolean isGood() {
		return this.outages.isEmpty();
	}

	/**
	 * A request had an answer.
	 * @param shard the server
	 * @param now the present time
	 * @return the outage that has ended with it, or null
	 */
	public @Nullable Outage answered(String shard, long now) {
		Outage present = this.outages.get(shard);
		if (present == null) {
			return null;
		}
		if (now - present.last >= QUIET_NANOS) {
			return this.outages.remove(shard, present) ? present : null;
		}
		if (present.silent) {
			this.outages.replace(shard, present, new Outage(present.since, present.last, false, present.reported));
		}
		return null;
	}

	/**
	 * Returns whether a server has not answered since a request to it was given up.
	 * @param shard the server
	 * @return false if it answers, as far as is known
	 */
	public boolean isSilent(String shard) {
		Outage present = this.outages.get(shard);
		return present != null && present.silent;
	}

}
