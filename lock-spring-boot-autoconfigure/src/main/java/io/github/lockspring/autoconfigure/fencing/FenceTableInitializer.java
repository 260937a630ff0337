package io.github.lockspring.autoconfigure.fencing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

import javax.sql.DataSource;

import io.github.lockspring.autoconfigure.properties.DistributedLockProperties;
import io.github.lockspring.autoconfigure.properties.LockPropertyException;
import io.github.lockspring.jdbc.JdbcFencingGuard;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.jdbc.EmbeddedDatabaseConnection;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.jdbc.init.PlatformPlaceholderDatabaseDriverResolver;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.boot.sql.init.DatabaseInitializationSettings;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.Resource;
import org.springframework.dao.DataAccessException;

/**
 * Creates the table of fencing tokens if it does not exist.
 */
class FenceTableInitializer extends DataSourceScriptDatabaseInitializer {

	private static final Logger logger = LoggerFactory.getLogger(FenceTableInitializer.class);

	private static final String CREATE = "CREATE TABLE IF NOT EXISTS ";

	private final String table;

	private final DistributedLockProperties.InitializeSchema mode;

	FenceTableInitializer(DataSource dataSource, String table, DistributedLockProperties.InitializeSchema mode) {
		super(dataSource, settings(mode));
		this.table = table;
		this.mode = mode;
	}

	private static DatabaseInitializationSettings settings(DistributedLockProperties.InitializeSchema mode) {
		DatabaseInitializationSettings settings = new DatabaseInitializationSettings();
		// the platform is determined only when a script is to run: that needs a
		// connection
		settings.setSchemaLocations(
				List.of(location("h2"), location("postgresql"), location("mysql"), location("mariadb")));
		settings.setMode(DatabaseInitializationMode.valueOf(mode.name()));
		return settings;
	}

	private static String location(String platform) {
		return "classpath:io/github/lockspring/jdbc/schema-" + platform + ".sql";
	}

	// connects at startup only if the class path has the driver of an embedded database
	@Override
	protected boolean isEmbeddedDatabase() {
		return EmbeddedDatabaseConnection.get(getClass().getClassLoader()) != EmbeddedDatabaseConnection.NONE
				&& super.isEmbeddedDatabase();
	}

	@Override
	protected void runScripts(Scripts scripts) {
		String name = new PlatformPlaceholderDatabaseDriverResolver()
			.resolveAll(getDataSource(), "schema-@@platform@@.sql")
			.get(0);
		for (Resource script : scripts) {
			if (name.equals(script.getFilename())) {
				run(scripts, script);
				return;
			}
		}
		if (this.mode == DistributedLockProperties.InitializeSchema.ALWAYS) {
			throw new LockPropertyException("fencing.initialize-schema", "always",
					"there is no script " + name + " for this database",
					"Create the table with a migration, as the other scripts do, and set the property to never.");
		}
		logger.debug("There is no script {} to create the table of fencing tokens", name);
	}

	private void run(Scripts all, Resource script) {
		Scripts named = new Scripts(List.of(withTable(script))).separator(all.getSeparator());
		try {
			super.runScripts(named);
		}
		catch (DataAccessException ex) {
			// of two instances that start together and find no table, one fails; any
			// other
			// failure is repeated
			logger.debug("Retrying, since another instance may have created the table", ex);
			super.runScripts(named);
		}
	}

	private Resource withTable(Resource script) {
		try {
			String sql = script.getContentAsString(StandardCharsets.UTF_8)
				.replace(CREATE + JdbcFencingGuard.DEFAULT_TABLE, CREATE + this.table);
			return new ByteArrayResource(sql.getBytes(StandardCharsets.UTF_8), script.getDescription());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
