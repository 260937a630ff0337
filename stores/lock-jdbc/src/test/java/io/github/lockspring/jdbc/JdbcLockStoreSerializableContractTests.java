package io.github.lockspring.jdbc;

import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The contract of stores on PostgreSQL where each transaction is serializable.
 */
@Tag("contracts")
@ParameterizedClass
@MethodSource("servers")
class JdbcLockStoreSerializableContractTests extends JdbcLockStoreContractTests {

	JdbcLockStoreSerializableContractTests(Server server) {
		super(server);
	}

	static Stream<Server> servers() {
		return TestDatabases.serializable().map(Server::of);
	}

}
