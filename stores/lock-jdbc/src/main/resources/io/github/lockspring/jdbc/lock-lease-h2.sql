-- The locks, and those that wait for them. The row of a lock stays when the lock is released, since it carries the
-- last fencing token.
--
-- May be copied into a migration of Flyway, or named in a <sqlFile> of Liquibase. Rows of locks that have not been
-- used for 30 days (distributed-lock.jdbc.purge-after) are deleted by the application. They may be deleted by hand after
-- a time that is longer than any process can be paused, for example those of a week ago:
--
--   DELETE FROM lock_lease WHERE GREATEST(fencing_token, expires_at) < EXTRACT(EPOCH FROM CURRENT_TIMESTAMP - INTERVAL '7' DAY) * 1000000;
--
-- A waiter deletes its row, except where its process has ended meanwhile:
--
--   DELETE FROM lock_lease_waiter WHERE seen_at < EXTRACT(EPOCH FROM CURRENT_TIMESTAMP - INTERVAL '1' DAY) * 1000000;

CREATE TABLE IF NOT EXISTS lock_lease (
	-- compared byte by byte: two keys that differ in anything are two locks
	lock_key VARCHAR_CASESENSITIVE(255) NOT NULL,
	-- token of the owner, '-' for none; without meaning once the lease has ended
	owner VARCHAR_CASESENSITIVE(64) NOT NULL,
	-- largest one that was issued: not less than the time of that, in microseconds since 1970, UTC
	fencing_token BIGINT NOT NULL,
	-- end of the lease, in microseconds since 1970, UTC, by the clock of this server; 0 if the lock was released
	expires_at BIGINT NOT NULL,
	-- until when a release looks for waiters; grows each time that one is seen, 0 if none is known
	queued_until BIGINT NOT NULL,
	PRIMARY KEY (lock_key)
);

CREATE TABLE IF NOT EXISTS lock_lease_waiter (
	lock_key VARCHAR_CASESENSITIVE(255) NOT NULL,
	-- token that is to own the lock
	token VARCHAR_CASESENSITIVE(64) NOT NULL,
	-- 1 if no message reaches it
	polls SMALLINT NOT NULL,
	-- the order, in microseconds since 1970, UTC
	joined_at BIGINT NOT NULL,
	-- its last attempt; it is passed over some seconds later
	seen_at BIGINT NOT NULL,
	PRIMARY KEY (lock_key, token)
);
