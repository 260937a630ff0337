package io.github.lockspring.jdbc;

import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;

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

	static GrantPoller of(JdbcExecutor requests, String table, Dialect dialect, UnaryOperator<String> row) {
		return new GrantPoller(requests, "SELECT owner, fencing_token FROM " + table + " WHERE expires_at > "
				+ dialect.nowMicros() + " AND lock_key IN ", row);
	}

	@Override
	public void receive(JdbcInbox.Opening opening) throws InterruptedException {
		while (opening.isOpen()) {
			Map<OwnerToken, String> waiting = Map.copyOf(opening.waiting());
			List<Grant> found = this.requests.execute((call) -> find(call, waiting.values()), TIMEOUT);
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
	 * Finds the owners of locks. Asks for the row of the empty key too, which no lock
	 * has: without waiters, the query only checks that the table can be read.
	 * @param keys the users' keys
	 */
	private List<Grant> find(JdbcCall call, Collection<String> keys) throws SQLException {
		List<String> rows = Stream.concat(Stream.of(""), keys.stream()).map(this.row).distinct().toList();
		String sql = this.select + '(' + String.join(", ", Collections.nCopies(rows.size(), "?")) + ')';
		return call.queryAll(new NamedStatement(sql, rows),
				rows.stream().collect(Collectors.toMap(Function.identity(), Function.identity())),
				(result) -> new Grant(result.getString(1), result.getLong(2)));
	}

	/**
	 * The owner of a lock.
	 */
	private record Grant(String owner, long fencingToken) {
	}

}
