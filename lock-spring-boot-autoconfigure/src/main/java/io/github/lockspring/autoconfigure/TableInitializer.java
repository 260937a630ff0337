package io.github.lockspring.autoconfigure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;

import javax.sql.DataSource;

import io.github.lockspring.fencing.JdbcFencingGuard;
import io.github.lockspring.jdbc.JdbcLockStore;
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
 * Creates a table if it does not exist.
 */
final class TableInitializer extends DataSourceScriptDatabaseInitializer {

	private static final Logger logger = LoggerFactory.getLogger(TableInitializer.class);

	static final Table LEASES = new Table("jdbc", "lock-lease-", JdbcLockStore.DEFAULT_TABLE, "jdbc.initialize-schema");

	static final Table FENCES = new Table("fencing", "lock-fence-", JdbcFencingGuard.DEFAULT_TABLE,
			"fencing.initialize-schema");

	private static final String CREATE = "CREATE TABLE IF NOT EXISTS ";

	private final Table table;

	private final String name;

	private final DistributedLockProperties.InitializeSchema mode;

	/**
	 * Creates an initializer.
	 * @param dataSource the database
	 * @param table the table
	 * @param name the valid name that it is to have
	 * @param mode when to create it
	 */
	TableInitializer(DataSource dataSource, Table table, String name, DistributedLockProperties.InitializeSchema mode) {
		super(dataSource, settings(table, mode));
		this.table = table;
		this.name = name;
		this.mode = mode;
	}

	private static DatabaseInitializationSettings settings(Table table,
			DistributedLockProperties.InitializeSchema mode) {
		DatabaseInitializationSettings settings = new DatabaseInitializationSettings();
		// the platform is determined only when a script is to run: that needs a
		// connection
		settings.setSchemaLocations(Stream.of("h2", "postgresql", "mysql", "mariadb").map(table::location).toList());
		settings.setMode(DatabaseInitializationMode.valueOf(mode.name()));
		return settings;
	}

	// connects at startup only if the class path has the driver of an embedded database
	@Override
	protected boolean isEmbeddedDatabase() {
		return EmbeddedDatabaseConnection.get(getClass().getClassLoader()) != EmbeddedDatabaseConnection.NONE
				&& super.isEmbeddedDatabase();
	}

	@Override
	protected void runScripts(Scripts scripts) {
		String fileName = new PlatformPlaceholderDatabaseDriverResolver()
			.resolveAll(getDataSource(), this.table.fileName("@@platform@@"))
			.get(0);
		for (Resource script : scripts) {
			if (fileName.equals(script.getFilename())) {
				run(scripts, script);
				return;
			}
		}
		if (this.mode == DistributedLockProperties.InitializeSchema.ALWAYS) {
			throw PropertyChecks.invalid(this.table.property, "always",
					"There is no script " + fileName + " for this database",
					"Create the table with a migration, as the other scripts do, and set the property to never");
		}
		logger.debug("There is no script {} to create the table {}", fileName, this.name);
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
				.replace(CREATE + this.table.defaultName, CREATE + this.name);
			return new ByteArrayResource(sql.getBytes(StandardCharsets.UTF_8), script.getDescription());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * A table.
	 *
	 * @param room the folder of its scripts
	 * @param script the beginning of the names of its scripts
	 * @param defaultName its name in the scripts
	 * @param property the property that says when to create it, without
	 * {@code distributed-lock.}
	 */
	record Table(String room, String script, String defaultName, String property) {

		private String fileName(String platform) {
			return this.script + platform + ".sql";
		}

		private String location(String platform) {
			return "classpath:io/github/lockspring/" + this.room + "/" + fileName(platform);
		}

	}

}
