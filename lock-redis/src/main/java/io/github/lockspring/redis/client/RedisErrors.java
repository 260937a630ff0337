package io.github.lockspring.redis.client;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Predicate;

import io.github.lockspring.LockUnavailableException;
import org.jspecify.annotations.Nullable;

import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/**
 * Classifies the errors of Redis and its drivers, and describes each of them in one
 * sentence, which includes the server's own words.
 *
 * @since 0.1
 */
public final class RedisErrors {

	/*
	 * TRYAGAIN: while a slot migrates, a script is refused if one of its keys is missing.
	 * MOVED and ASK reach a caller only after the driver has followed several redirects
	 * in vain; Jedis then reports the last of these messages. CLUSTERDOWN: a master has
	 * failed and no replica has replaced it yet.
	 */
	private static final List<String> TRANSIENT = List.of("TRYAGAIN", "MOVED ", "ASK ", "CLUSTERDOWN",
			"No more cluster attempts");

	/**
	 * The exceptions of Lettuce and Jedis, neither of which need be on the class path.
	 */
	private static final Set<String> ERROR_REPLIES = Set.of("RedisCommandExecutionException", "JedisDataException");

	private RedisErrors() {
	}

	/**
	 * Describes a null result.
	 */
	static LockUnavailableException noReply() {
		return new LockUnavailableException("Redis returned no reply. "
				+ "Is the connection factory one that queues commands, for a transaction or a pipeline?");
	}

	/**
	 * Describes a reply that the protocol does not know.
	 * @param reply the reply
	 * @return the exception to throw
	 */
	public static LockUnavailableException unexpected(@Nullable Object reply) {
		return new LockUnavailableException("Redis returned an unexpected reply: " + reply);
	}

	/**
	 * Parses a reply that consists of words.
	 * @param <R> type of the result
	 * @param reply the reply
	 * @param maxWords the largest number of words; the last one is the rest of the reply
	 * @param parser is given the words; may use more words than there are, and parse
	 * words as numbers that are none
	 * @return the result of the parser
	 * @throws LockUnavailableException if the reply does not have these words
	 */
	public static <R> R parse(String reply, int maxWords, Function<String[], R> parser) {
		try {
			return parser.apply(reply.split(" ", maxWords));
		}
		catch (IndexOutOfBoundsException | NumberFormatException ex) {
			throw new LockUnavailableException("Redis returned an unexpected reply: " + reply, ex);
		}
	}

	/**
	 * Describes an interrupt and sets the interrupt flag of the calling thread.
	 * @param cause the driver's exception or an {@link InterruptedException}
	 * @return the exception to throw
	 */
	public static LockUnavailableException interrupted(Exception cause) {
		// the drivers differ in whether they leave the flag set
		Thread.currentThread().interrupt();
		return new LockUnavailableException(
				"interrupted while waiting for Redis, which may have executed the command all the same", cause);
	}

	/**
	 * Translates a failure of a driver or of Spring Data.
	 * @param timeout how long the caller waited
	 * @param failure the failure
	 * @return the exception to throw
	 */
	static LockUnavailableException unavailable(Duration timeout, RuntimeException failure) {
		if (failure instanceof LockUnavailableException unavailable) {
			return unavailable;
		}
		if (hasCause(failure, (cause) -> cause instanceof InterruptedException
				|| cause.getClass().getSimpleName().equals("RedisCommandInterruptedException"))) {
			return interrupted(failure);
		}
		if (hasCause(failure, (cause) -> cause instanceof QueryTimeoutException || cause instanceof TimeoutException)) {
			return new LockUnavailableException("Redis did not reply within " + format(timeout), failure);
		}
		Throwable cause = NestedExceptionUtils.getMostSpecificCause(failure);
		String message = (cause.getMessage() != null) ? cause.getMessage() : cause.getClass().getName();
		String advice = message.startsWith("WRONGTYPE") ? ". The key holds a value of another type, probably a lock of "
				+ "another library (Redisson's are hashes): choose another distributed-lock.key-prefix" : "";
		return new LockUnavailableException(message + advice, failure);
	}

	/**
	 * Whether there was no reply in time, so another attempt may succeed.
	 */
	static boolean isTimeout(Throwable failure) {
		return hasCause(failure, (cause) -> cause instanceof QueryTimeoutException
				|| cause.getClass().getSimpleName().contains("Timeout"));
	}

	/**
	 * Whether the server has replied, with an error.
	 */
	static boolean isErrorReply(Throwable failure) {
		Class<?> type = NestedExceptionUtils.getMostSpecificCause(failure).getClass();
		while (type != null && !ERROR_REPLIES.contains(type.getSimpleName())) {
			type = type.getSuperclass();
		}
		return type != null;
	}

	private static boolean hasCause(Throwable failure, Predicate<Throwable> condition) {
		Throwable next = failure;
		while (next != null && !condition.test(next)) {
			next = next.getCause();
		}
		return next != null;
	}

	/**
	 * Whether a cluster has refused a valid command that it will accept soon: the server
	 * is not ready for it, or another server is responsible by now.
	 */
	static boolean isTransient(RuntimeException failure) {
		return TRANSIENT.stream().anyMatch(message(failure)::startsWith);
	}

	/**
	 * Whether the failure indicates that the known cluster topology is out of date. A
	 * migrating slot alone does not.
	 */
	static boolean isTopologyChange(RuntimeException failure) {
		return isTransient(failure) && !isTryAgain(failure);
	}

	/**
	 * Whether the server has become a replica.
	 */
	static boolean isReadOnly(RuntimeException failure) {
		return message(failure).contains("READONLY ");
	}

	/**
	 * Whether a cluster has refused a script because some of its keys have migrated and
	 * others have not.
	 * @param failure the failure
	 * @return whether each key alone may succeed
	 */
	public static boolean isTryAgain(Throwable failure) {
		return message(failure).startsWith("TRYAGAIN");
	}

	/**
	 * Whether a node of a cluster has refused a script because its keys are in several
	 * hash slots.
	 * @param failure the failure
	 * @return whether each key alone may succeed
	 */
	public static boolean isCrossSlot(Throwable failure) {
		return message(failure).contains("CROSSSLOT");
	}

	/**
	 * Returns the message of the most specific cause.
	 * @param failure the failure
	 * @return its message, "null" if it has none
	 */
	public static String message(Throwable failure) {
		return String.valueOf(NestedExceptionUtils.getMostSpecificCause(failure).getMessage());
	}

	/**
	 * Formats a duration for a message, in milliseconds at the finest.
	 * @param duration the duration
	 * @return for example {@code 1s500ms}
	 */
	public static String format(Duration duration) {
		return DurationFormatterUtils.print(duration.truncatedTo(ChronoUnit.MILLIS), DurationFormat.Style.COMPOSITE);
	}

}
