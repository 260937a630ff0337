package io.github.lockspring.bank;

import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

import io.github.lockspring.LockLostException;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.StaleFencingTokenException;
import io.github.lockspring.bank.BankApplication.Transfer.Step;
import io.github.lockspring.bank.BankApplication.Transfer;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.transaction.TransactionException;

/**
 * What became of a transfer.
 */
enum Outcome {

	/** Committed, and its locks were held to the end. */
	COMMITTED,

	/** Committed; when the locks were given back, one had been lost. */
	COMMITTED_AND_TOLD,

	/** Refused by the fencing guard. */
	STALE,

	/** Rolled back: a lock was lost before the commit. */
	LOST_BEFORE_COMMIT,

	/** Rolled back: Redis could not be asked before the commit. */
	UNAVAILABLE_AT_COMMIT,

	/** Not begun: the locks were busy. */
	BUSY,

	/** Not begun: Redis could not be asked. */
	UNAVAILABLE,

	/** Not begun: the first lock was lost while the second one was waited for. */
	LOST_BEFORE_WORK,

	/** Rolled back: the database refused, or took too long. */
	DATABASE,

	/**
	 * Anything else, which is a fault of the test or of the code, and ends the worker.
	 */
	UNEXPECTED;

	boolean isCommitted() {
		return this == COMMITTED || this == COMMITTED_AND_TOLD;
	}

	static Outcome of(Transfer transfer, @Nullable Exception failure) {
		if (transfer.has(Step.COMMITTED)) {
			if (failure == null) {
				return COMMITTED;
			}
			return (failure instanceof LockLostException) ? COMMITTED_AND_TOLD : UNEXPECTED;
		}
		if (failure instanceof StaleFencingTokenException) {
			return STALE;
		}
		if (failure instanceof LockLostException) {
			return transfer.has(Step.BEGUN) ? LOST_BEFORE_COMMIT : LOST_BEFORE_WORK;
		}
		if (failure instanceof LockUnavailableException) {
			return transfer.has(Step.BEGUN) ? UNAVAILABLE_AT_COMMIT : UNAVAILABLE;
		}
		if (failure instanceof LockNotAcquiredException) {
			return BUSY;
		}
		return (failure instanceof DataAccessException || failure instanceof TransactionException) ? DATABASE
				: UNEXPECTED;
	}

	static String text(Map<Outcome, Integer> counts) {
		return counts.entrySet()
			.stream()
			.map((entry) -> entry.getKey() + "=" + entry.getValue())
			.collect(Collectors.joining(" "));
	}

	static Map<Outcome, Integer> parse(String text) {
		Map<Outcome, Integer> counts = new EnumMap<>(Outcome.class);
		for (String word : text.split(" ")) {
			if (!word.isEmpty()) {
				String[] count = word.split("=");
				counts.put(valueOf(count[0].toUpperCase(Locale.ROOT)), Integer.valueOf(count[1]));
			}
		}
		return counts;
	}

}
