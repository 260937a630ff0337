package io.github.lockspring.bank;

import java.util.function.Supplier;

import javax.sql.DataSource;

import io.github.lockspring.testsupport.jdbc.Databases;
import io.github.lockspring.testsupport.jdbc.Databases.Database;

import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.util.function.SingletonSupplier;

/**
 * The databases that a bank can have, each with its table of fencing tokens.
 */
enum BankDatabase {

	H2(Databases::h2Server),

	POSTGRESQL(Databases::postgres);

	private final Supplier<Database> database;

	private final Supplier<DataSource> dataSource;

	BankDatabase(Supplier<Database> maker) {
		this.database = SingletonSupplier.of(() -> maker.get().withFencingTokens());
		this.dataSource = SingletonSupplier.of(() -> {
			Database created = this.database.get();
			return new SingleConnectionDataSource(created.url(), created.user(), created.password(), true);
		});
	}

	/** Where the workers find it, for a conversation. */
	String place() {
		return this.database.get().url() + " " + this.database.get().user();
	}

	/** The auditor's own connection. */
	DataSource dataSource() {
		return this.dataSource.get();
	}

}
