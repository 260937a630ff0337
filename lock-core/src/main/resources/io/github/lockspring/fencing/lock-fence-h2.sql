-- The highest fencing token seen for each resource. A row is locked while work on its resource runs.
--
-- Copy this script into a Flyway migration, or name it in a Liquibase <sqlFile>. A row may be deleted when it has
-- not been used for longer than any process can be paused.

CREATE TABLE IF NOT EXISTS lock_fence (
	-- compared byte by byte
	resource VARCHAR_CASESENSITIVE(255) NOT NULL,
	fencing_token BIGINT NOT NULL,
	uses BIGINT NOT NULL,
	updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
	PRIMARY KEY (resource)
);
