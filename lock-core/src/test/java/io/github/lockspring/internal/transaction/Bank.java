package io.github.lockspring.internal.transaction;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

import io.github.lockspring.LockEvent;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.internal.UnitOfWork;
import io.github.lockspring.internal.engine.EngineSettings;
import io.github.lockspring.internal.engine.LockEngine;
import io.github.lockspring.internal.engine.ScriptedStore;
import io.github.lockspring.internal.engine.support.LockRecorder;
import io.github.lockspring.internal.engine.support.Time;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.memory.MemoryLockStore;
import org.h2.jdbcx.JdbcConnectionPool;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * A database and an engine, for tests of what they have to do with each other.
 */
final class Bank implements AutoCloseable {

	final ScriptedStore store = new ScriptedStore(new MemoryLockStore());

	final List<LockEvent> events = new CopyOnWriteArrayList<>();

	/** The keys whose commits were refused. */
	final List<String> refused = new CopyOnWriteArrayList<>();

	final JdbcConnectionPool dataSource = JdbcConnectionPool.create("jdbc:h2:mem:" + System.nanoTime(), "sa", "");

	final JdbcTransactionManager transactions = known(new JdbcTransactionManager(this.dataSource));

	final JdbcTemplate jdbc = new JdbcTemplate(this.dataSource);

	final LockTemplate locks;

	private final LockEngine engine;

	Bank() {
		this(new TransactionUnitOfWork());
	}

	Bank(UnitOfWork unitOfWork) {
		this(unitOfWork, Time.SYSTEM);
	}

	Bank(UnitOfWork unitOfWork, Time time) {
		this.engine = new LockEngine(this.store, EngineSettings.defaults(), this.events::add, unitOfWork,
				LockRecorder.NONE, null, time);
		this.locks = this.engine.template();
		this.jdbc.execute("CREATE TABLE entries (id INT)");
	}

	/** Guards the commits of this bank. */
	Bank guarded(Verification verification) {
		this.transactions.addListener(new CommitGuard(() -> verification, (lock) -> this.refused.add(lock.key())));
		return this;
	}

	/** Makes a manager known, as the application's are. */
	<M extends ConfigurableTransactionManager> M known(M manager) {
		manager.addListener(new TransactionUnitOfWork.Tracker(manager));
		return manager;
	}

	TransactionTemplate transaction() {
		return transaction(TransactionDefinition.PROPAGATION_REQUIRED);
	}

	TransactionTemplate transaction(int propagation) {
		TransactionTemplate template = new TransactionTemplate(this.transactions);
		template.setPropagationBehavior(propagation);
		return template;
	}

	void write() {
		this.jdbc.update("INSERT INTO entries VALUES (1)");
	}

	int written() {
		Integer count = this.jdbc.queryForObject("SELECT COUNT(*) FROM entries", Integer.class);
		return (count != null) ? count : -1;
	}

	/** Returns how many leases the store was asked to renew. */
	int renewals() {
		return this.store.renewed.stream().mapToInt(List::size).sum();
	}

	/** Lets the store answer renewals as if it had lost its data. */
	void loseLocks() {
		this.store.onRenew = (request) -> RenewResult.NOT_OWNER;
	}

	/** Whether somebody else would get the lock now. */
	boolean isFree(String key) {
		return CompletableFuture.supplyAsync(() -> {
			try {
				this.locks.acquire(LockRequest.of(key).waitTime(Duration.ZERO)).close();
				return true;
			}
			catch (LockNotAcquiredException ex) {
				return false;
			}
		}).join();
	}

	@Override
	public void close() {
		this.engine.close();
		this.dataSource.dispose();
	}

}
