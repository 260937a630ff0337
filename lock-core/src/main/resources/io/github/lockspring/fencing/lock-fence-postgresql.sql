-- The highest fencing token that was seen for each resource. A row is locked while work on its resource runs.
--
-- May be copied into a migration of Flyway, or named in a <sqlFile> of Liquibase. A row that has not been
-- used for longer than any process can be paused may be deleted.

CREATE TABLE IF NOT EXISTS lock_fence (
	-- compared byte by byte: two resources that differ in anything are two resources
	resource VARCHAR(255) COLLATE "C" NOT NULL,
	fencing_token BIGINT NOT NULL,
	uses BIGINT NOT NULL,
	updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
	PRIMARY KEY (resource)
);
