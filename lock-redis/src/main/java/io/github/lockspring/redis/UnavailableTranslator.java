package io.github.lockspring.redis;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.github.lockspring.LockUnavailableException;
import org.jspecify.annotations.Nullable;

import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.QueryTimeoutException;

/**
 * Says in one sentence why there is no answer, with the server's own words where it said
 * something.
 */
final class UnavailableTranslator {

	private UnavailableTranslator() {
	}

	static LockUnavailableException noAnswer() {
		return new LockUnavailableException("Redis gave no answer. "
				+ "Is the connection factory one that queues commands, for a transaction or a pipeline?");
	}

	static LockUnavailableException unexpected(@Nullable Object answer) {
		return new LockUnavailableException("Redis gave an unexpected answer: " + answer);
	}

	static LockUnavailableException translate(Duration timeout, RuntimeException failure) {
		if (isInterrupt(failure)) {
			// the drivers do not agree about the flag
			Thread.currentThread().interrupt();
			return new LockUnavailableException(
					"interrupted while waiting for Redis, which may have done it all the same", failure);
		}
		if (isTimeout(failure)) {
			return new LockUnavailableException("Redis did not answer within " + format(timeout), failure);
		}
		Throwable cause = NestedExceptionUtils.getMostSpecificCause(failure);
		String words = (cause.getMessage() != null) ? cause.getMessage() : cause.getClass().getName();
		String advice = words.startsWith("WRONGTYPE") ? ". The key holds a value of another type, probably a lock of "
				+ "another library (Redisson's are hashes): choose another distributed-lock.key-prefix" : "";
		return new LockUnavailableException(words + advice, failure);
	}

	private static boolean isInterrupt(Throwable failure) {
		for (Throwable next = failure; next != null; next = next.getCause()) {
			if (next instanceof InterruptedException
					|| next.getClass().getSimpleName().equals("RedisCommandInterruptedException")) {
				return true;
			}
		}
		return false;
	}

	private static boolean isTimeout(Throwable failure) {
		for (Throwable next = failure; next != null; next = next.getCause()) {
			if (next instanceof QueryTimeoutException || next instanceof TimeoutException) {
				return true;
			}
		}
		return false;
	}

	static String format(Duration duration) {
		long millis = duration.toMillis();
		long second = TimeUnit.SECONDS.toMillis(1);
		return (millis % second == 0) ? millis / second + "s" : millis + "ms";
	}

}
