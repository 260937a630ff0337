package io.github.lockspring.jdbc;

import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

import io.github.lockspring.store.OwnerToken;

/**
 * Polls for locks handed over to the waiters of one instance, for databases that cannot
 * send notifications. While a waiter is queued, sends one query for all keys; each query
 * confirms the inbox.
 *
 * @param requests executes the queries
 * @param select the query without the list of keys
 * @param row converts a user's key into the key of the row
 */
record GrantPoller(JdbcExecutor requests, String select, UnaryOperator<String> row) implements JdbcInbox.Transport {

	private static final Duration TIMEOUT = Duration.ofSeconds(2);

	private static final long MIN_PAUSE_MILLIS = 25;

	private static final long MAX_PAUSE_MILLIS = 75;

	/** Only a few different statements, so that the server can keep them prepared. */
	private static final int[] SIZES = { 1, 10, 100, 500 };

	static GrantPoller of(JdbcExecutor requests, String table, Dialect dialect, UnaryOperator<String> row) {
		return new GrantPoller(requests, "SELECT owner, fencing_token FROM " + table + " WHERE expires_at > "
				+ dialect.nowMicros() + " AND lock_key IN ", row);
	}

	@Override
	public void receive(JdbcInbox.Opening opening) throws InterruptedException {
		while (opening.isOpen()) {
			Map<OwnerToken, String> waiting = Map.copyOf(opening.waiting());
			List<Grant> found = this.requests.execute((call) -> find(call, List.copyOf(waiting.values())), TIMEOUT);
			opening.confirm();
			found.forEach((grant) -> OwnerToken.parse(grant.owner())
				.ifPresent((owner) -> deliver(opening, owner, grant.fencingToken())));
			TimeUnit.MILLISECONDS.sleep(ThreadLocalRandom.current().nextLong(MIN_PAUSE_MILLIS, MAX_PAUSE_MILLIS));
			opening.awaitWork();
		}
	}

	private static void deliver(JdbcInbox.Opening opening, OwnerToken owner, long fencingToken) {
		String key = opening.waiting().remove(owner);
		if (key != null) {
			opening.deliver((listener) -> listener.granted(key, owner, fencingToken, true));
		}
	}

	@Override
	public boolean notifiesOwners() {
		return false;
	}

	/**
	 * Finds the owners of locks.
	 * @param keys the users' keys; if there are none, the query only checks that the
	 * table can be read
	 */
	private List<Grant> find(JdbcCall call, List<String> keys) throws SQLException {
		List<String> rest = keys.isEmpty() ? List.of("") : keys;
		List<Grant> found = new ArrayList<>();
		while (!rest.isEmpty()) {
			int size = size(rest.size());
			List<String> some = rest.subList(0, Math.min(size, rest.size()));
			Map<String, String> values = new HashMap<>();
			for (int i = 0; i < size; i++) {
				values.put("key" + i, this.row.apply(some.get(Math.min(i, some.size() - 1))));
			}
			found.addAll(call.queryAll(statement(size), values,
					(result) -> new Grant(result.getString(1), result.getLong(2))));
			rest = rest.subList(some.size(), rest.size());
		}
		return found;
	}

	private static int size(int keys) {
		return IntStream.of(SIZES).filter((size) -> size >= keys).findFirst().orElse(SIZES[SIZES.length - 1]);
	}

	private NamedStatement statement(int size) {
		return new NamedStatement(this.select + '(' + String.join(", ", Collections.nCopies(size, "?")) + ')',
				IntStream.range(0, size).mapToObj((i) -> "key" + i).toList());
	}

	/**
	 * The owner of a lock.
	 */
	private record Grant(String owner, long fencingToken) {
	}

}
