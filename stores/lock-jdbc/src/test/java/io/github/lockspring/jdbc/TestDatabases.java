package io.github.lockspring.jdbc;

import java.util.stream.Stream;

import io.github.lockspring.testsupport.jdbc.Databases;
import io.github.lockspring.testsupport.jdbc.Databases.Database;

/**
 * The databases that tests run on, new ones for each class. A running MariaDB server is
 * named with {@code -Dlockspring.mariadb=127.0.0.1:3306}.
 */
final class TestDatabases {

	private TestDatabases() {
	}

	static Stream<Database> each() {
		return Stream.concat(Stream.of(Databases.h2(), Databases.postgres()), Databases.mariaDb().stream())
			.map(Database::withLocks);
	}

	/** Also one whose statements are refused at times, as users may choose to have it. */
	static Stream<Database> eachAndSerializable() {
		return Stream.concat(each(), serializable());
	}

	static Stream<Database> serializable() {
		return Stream
			.of(Databases.postgres().withLocks().with("?options=-c%20default_transaction_isolation=serializable"));
	}

}
