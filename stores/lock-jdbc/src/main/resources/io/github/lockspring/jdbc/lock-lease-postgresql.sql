-- The locks and their waiters. The row of a lock stays after a release, since it keeps the last fencing token.
--
-- Copy this script into a Flyway migration, or name it in a Liquibase <sqlFile>. The application deletes the rows of
-- locks that have not been used for 30 days (distributed-lock.jdbc.purge-after). By hand, delete only rows that have
-- not been used for longer than any process can be paused, for example for a week:
--
--   DELETE FROM lock_lease WHERE GREATEST(fencing_token, expires_at) < EXTRACT(EPOCH FROM now() - INTERVAL '7 days') * 1000000;
--
-- A waiter deletes its row, unless its process dies before:
--
--   DELETE FROM lock_lease_waiter WHERE seen_at < EXTRACT(EPOCH FROM now() - INTERVAL '1 day') * 1000000;
--
-- A view shows the times of locks that were not released:
--
--   CREATE VIEW lock_lease_times AS SELECT lock_key, owner, to_timestamp(fencing_token / 1000000.0) AS acquired_at, to_timestamp(expires_at / 1000000.0) AS expires_at FROM lock_lease WHERE expires_at > 0;

CREATE TABLE IF NOT EXISTS lock_lease (
	-- compared byte by byte
	lock_key VARCHAR(255) COLLATE "C" NOT NULL,
	-- token of the owner, '-' for none; meaningless after the lease has ended
	owner VARCHAR(64) COLLATE "C" NOT NULL,
	-- largest one issued: at least the time of its issue, in microseconds since 1970, UTC
	fencing_token BIGINT NOT NULL,
	-- end of the lease, in microseconds since 1970, UTC, by the clock of this server; 0 if the lock was released
	expires_at BIGINT NOT NULL,
	-- last time at which a waiter joined or left, by which concurrent requests notice each other; 0 for no waiters
	queued_at BIGINT NOT NULL,
	PRIMARY KEY (lock_key)
) WITH (
	-- so that most updates stay in their page and change no index
	fillfactor = 70
);

CREATE TABLE IF NOT EXISTS lock_lease_waiter (
	lock_key VARCHAR(255) COLLATE "C" NOT NULL,
	-- token that waits for the lock
	token VARCHAR(64) COLLATE "C" NOT NULL,
	-- position in the queue, in microseconds since 1970, UTC
	joined_at BIGINT NOT NULL,
	-- last attempt; after some seconds without one, the waiter is skipped
	seen_at BIGINT NOT NULL,
	PRIMARY KEY (lock_key, token)
);
