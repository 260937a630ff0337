package io.github.lockspring.failure;

import java.util.List;
import java.util.function.Consumer;

import javax.sql.DataSource;

import io.github.lockspring.FencingGuard;
import io.github.lockspring.HeldLock;
import io.github.lockspring.fencing.JdbcFencingGuard;
import io.github.lockspring.internal.KeyedLock;
import io.github.lockspring.internal.base.CallChain;
import io.github.lockspring.internal.transaction.CommitGuard;
import io.github.lockspring.internal.transaction.Verification;
import io.github.lockspring.testsupport.jdbc.Databases;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * A database with a table that keeps the order in which was written, and both guards.
 */
public final class GuardedDatabase {

	private final DataSource dataSource = Databases.h2().withFencingTokens().dataSource();

	private final JdbcTemplate jdbc = new JdbcTemplate(this.dataSource);

	private final FencingGuard fencing = new JdbcFencingGuard(this.dataSource);

	public GuardedDatabase() {
		this.jdbc.execute("CREATE TABLE entries (number INT AUTO_INCREMENT PRIMARY KEY, text VARCHAR(40))");
		// so that the next one waits for an update, which H2 shows, not for an insert
		transaction(Verification.OFF).executeWithoutResult((status) -> this.fencing.check("order:42", 1));
	}

	JdbcTransactionManager transactions(Verification verification) {
		JdbcTransactionManager transactions = new JdbcTransactionManager(this.dataSource);
		transactions.addListener(new CommitGuard(() -> verification, (refused) -> {
		}));
		return transactions;
	}

	TransactionTemplate transaction(Verification verification) {
		return new TransactionTemplate(transactions(verification));
	}

	/** Commits a transaction under a lock that was acquired by a handle. */
	public void commit(Verification verification, HeldLock lock) {
		try (CallChain.Scope scope = CallChain.open(lock, ((KeyedLock) lock).locks())) {
			transaction(verification).executeWithoutResult((status) -> write("mine"));
		}
	}

	/** Lets the fencing guard alone compare the token of a lock. */
	public void fence(HeldLock lock) {
		writeFenced(lock, "fenced", (held) -> {
		});
	}

	void writeFenced(HeldLock lock, String text, Consumer<KeyedLock> afterwards) {
		transaction(Verification.OFF).executeWithoutResult((status) -> {
			this.fencing.check(lock);
			write(text);
			afterwards.accept((KeyedLock) lock);
		});
	}

	void write(String text) {
		this.jdbc.update("INSERT INTO entries (text) VALUES (?)", text);
	}

	List<String> read() {
		return this.jdbc.queryForList("SELECT text FROM entries ORDER BY number", String.class);
	}

	/** Whether some session waits for a row that another one has locked. */
	boolean isWaitedFor() {
		return !this.jdbc.queryForList("SELECT 1 FROM INFORMATION_SCHEMA.SESSIONS WHERE BLOCKER_ID IS NOT NULL")
			.isEmpty();
	}

}
