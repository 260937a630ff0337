-- The locks and their waiters. The row of a lock stays after a release, since it keeps the last fencing token.
--
-- Copy this script into a Flyway migration, or name it in a Liquibase <sqlFile>. The application deletes the rows of
-- locks that have not been used for 30 days (distributed-lock.jdbc.purge-after). By hand, delete only rows that have
-- not been used for longer than any process can be paused, for example for a week:
--
--   DELETE FROM lock_lease WHERE GREATEST(fencing_token, expires_at) < TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6) - INTERVAL 7 DAY);
--
-- A waiter deletes its row, unless its process dies before:
--
--   DELETE FROM lock_lease_waiter WHERE seen_at < TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6) - INTERVAL 1 DAY);
--
-- A view shows the times of locks that were not released, in UTC:
--
--   CREATE VIEW lock_lease_times AS SELECT lock_key, owner, TIMESTAMPADD(MICROSECOND, fencing_token, '1970-01-01') AS acquired_at, TIMESTAMPADD(MICROSECOND, expires_at, '1970-01-01') AS expires_at FROM lock_lease WHERE expires_at > 0;

CREATE TABLE IF NOT EXISTS lock_lease (
	-- compared byte by byte
	lock_key VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
	-- token of the owner, '-' for none; meaningless after the lease has ended
	owner VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
	-- largest one issued: at least the time of its issue, in microseconds since 1970, UTC
	fencing_token BIGINT NOT NULL,
	-- end of the lease, in microseconds since 1970, UTC, by the clock of this server; 0 if the lock was released
	expires_at BIGINT NOT NULL,
	-- last time at which a waiter joined or left, by which concurrent requests notice each other; 0 for no waiters
	queued_at BIGINT NOT NULL,
	PRIMARY KEY (lock_key)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS lock_lease_waiter (
	lock_key VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
	-- token that waits for the lock
	token VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
	-- position in the queue, in microseconds since 1970, UTC
	joined_at BIGINT NOT NULL,
	-- last attempt; after some seconds without one, the waiter is skipped
	seen_at BIGINT NOT NULL,
	PRIMARY KEY (lock_key, token)
) ENGINE = InnoDB;
