package io.github.lockspring.internal.transaction;

import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.github.lockspring.LockLostException;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.KeyedLock;
import io.github.lockspring.internal.base.CallChain;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.util.function.SingletonSupplier;

/**
 * Verifies before each commit that the locks of the call chain are still held. If one was
 * lost, an exception is thrown, which rolls the transaction back:
 * {@link LockLostException}, or {@link LockUnavailableException} if the store had to be
 * queried and did not reply. Thread-safe.
 * <p>
 * A lease that ends while the database commits is not detected. The minimum remaining
 * time is meant to cover the commit.
 *
 * @param verification supplies how to verify, called at the first commit
 * @param refusals receives the lock of each commit that is refused
 * @since 0.1
 */
public record CommitGuard(Supplier<Verification> verification,
		Consumer<KeyedLock> refusals) implements TransactionExecutionListener {

	/**
	 * The time that must be left of each lease; one with less is renewed first if renewal
	 * is allowed. The shortest lease is twice as long.
	 */
	private static final Duration MIN_REMAINING = Duration.ofMillis(50);

	private static final Logger logger = LoggerFactory.getLogger(CommitGuard.class);

	/**
	 * Creates a guard.
	 */
	public CommitGuard {
		verification = SingletonSupplier.of(verification);
	}

	/**
	 * Also called when a savepoint is released; a lock that is lost then stays lost.
	 */
	@Override
	public void beforeCommit(TransactionExecution transaction) {
		for (KeyedLock lock : CallChain.currentLocks(KeyedLock.class)) {
			try {
				check(lock, transaction);
			}
			catch (LockLostException | LockUnavailableException ex) {
				this.refusals.accept(lock);
				throw ex;
			}
		}
	}

	private void check(KeyedLock lock, TransactionExecution transaction) {
		Verification how = this.verification.get();
		if (how == Verification.OFF) {
			return;
		}
		lock.ensureHeld();
		if (how == Verification.REMOTE) {
			lock.verify();
		}
		else if (isShort(lock)) {
			lengthen(lock);
		}
		if (isShort(lock)) {
			lock.ensureHeld();
			throw new LockLostException(lock.key(),
					"Lock '" + lock.key() + "' has " + lock.remaining().toMillis()
							+ " ms of its lease left before the commit of " + name(transaction) + ", less than "
							+ MIN_REMAINING.toMillis() + " ms: the transaction is rolled back."
							+ " Give the lock a longer ttl, or renewal");
		}
	}

	/** A lease that was handed over is shorter than its ttl until its first renewal. */
	private static void lengthen(KeyedLock lock) {
		try {
			lock.verify();
		}
		catch (LockUnavailableException ex) {
			// The remaining time decides
			logger.debug("Lock '{}' could not be renewed before the commit", lock.key(), ex);
		}
	}

	private static boolean isShort(KeyedLock lock) {
		return lock.remaining().compareTo(MIN_REMAINING) < 0;
	}

	private static String name(TransactionExecution transaction) {
		String name = transaction.getTransactionName();
		return (name.isEmpty()) ? "a transaction" : "transaction " + name;
	}

}
