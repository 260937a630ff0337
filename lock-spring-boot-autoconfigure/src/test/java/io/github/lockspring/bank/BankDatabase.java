package io.github.lockspring.bank;

import java.util.function.Supplier;

import javax.sql.DataSource;

import io.github.lockspring.testsupport.jdbc.Databases;
import io.github.lockspring.testsupport.jdbc.Databases.Database;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/**
 * The databases that a bank can have, each with its table of fencing tokens. For one
 * thread.
 */
enum BankDatabase {

	H2(Databases::h2Server),

	POSTGRESQL(Databases::postgres);

	private final Supplier<Database> maker;

	private @Nullable Database made;

	private @Nullable DataSource dataSource;

	BankDatabase(Supplier<Database> maker) {
		this.maker = maker;
	}

	private Database made() {
		Database made = this.made;
		if (made == null) {
			made = this.maker.get().withFencingTokens();
			this.made = made;
		}
		return made;
	}

	/** Where the workers find it, for a conversation. */
	String place() {
		return made().url() + " " + made().user();
	}

	/** The auditor's own connection. */
	DataSource dataSource() {
		DataSource dataSource = this.dataSource;
		if (dataSource == null) {
			dataSource = new SingleConnectionDataSource(made().url(), made().user(), made().password(), true);
			this.dataSource = dataSource;
		}
		return dataSource;
	}

}
