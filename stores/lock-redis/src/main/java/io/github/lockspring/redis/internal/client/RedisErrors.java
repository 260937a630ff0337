package io.github.lockspring.redis.internal.client;

import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.lockspring.LockUnavailableException;
import org.jspecify.annotations.Nullable;

import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.util.StringUtils;

/**
 * Classifies the errors of Redis and its drivers, and describes each of them in one
 * sentence, which includes the server's own words.
 *
 * @since 0.1
 */
public final class RedisErrors {

	/*
	 * MOVED and ASK reach a caller only after the driver has followed a redirect in vain;
	 * Jedis then reports the last of these messages. CLUSTERDOWN: a master has failed and
	 * no replica has replaced it yet.
	 */
	private static final List<String> TOPOLOGY_CHANGES = List.of("MOVED ", "ASK ", "CLUSTERDOWN",
			"No more cluster attempts");

	/**
	 * The exceptions of Lettuce and Jedis, neither of which need be on the class path.
	 */
	private static final Set<String> ERROR_REPLIES = Set.of("RedisCommandExecutionException", "JedisDataException");

	private static final String UNKNOWN_HOST = "unknown host";

	private static final String GRANT = "Grant the user the rights that docs/choose/redis.md lists";

	private static final String SET_PASSWORD = "Set the password of the server: spring.data.redis.password, or with Redlock in the URL of the node";

	private static final String CHECK_LOGIN = "Check the user and the password: spring.data.redis.username and password, or with Redlock the URL of the node";

	/** A server without TLS takes the handshake for a command that is not complete. */
	static final String CHECK_TLS = "Check whether the server expects TLS";

	private static final int MAX_PROBLEMS = 3;

	private static final String OTHER_PROTOCOL = "its reply is not Redis protocol";

	/** Messages of Lettuce and Jedis about replies that are not of a Redis. */
	private static final List<String> NO_PROTOCOL = List.of("Invalid first byte: ", "Unknown reply: ",
			"Unsupported or unrecognized SSL message", "not an SSL/TLS record: ");

	/**
	 * The category of an error. LOGIN and SETTING are permanent.
	 */
	enum Topic {

		LOGIN, SETTING, OTHER

	}

	/**
	 * An error whose remedy is known.
	 *
	 * @param words what its message contains
	 */
	record KnownError(String words, Topic topic, String remedy) {
	}

	static final List<KnownError> KNOWN = List.of(new KnownError("NOAUTH", Topic.LOGIN, SET_PASSWORD),
			new KnownError("unauthenticated", Topic.LOGIN, SET_PASSWORD),
			new KnownError("WRONGPASS", Topic.LOGIN, CHECK_LOGIN),
			new KnownError("invalid password", Topic.LOGIN, CHECK_LOGIN),
			new KnownError("without any password configured", Topic.LOGIN,
					"Leave out the password, or check the address"),
			new KnownError("NOPERM", Topic.SETTING, GRANT),
			new KnownError("The user executing the script can't run", Topic.SETTING, GRANT),
			new KnownError("ACL failure in script", Topic.SETTING, GRANT),
			new KnownError("DB index", Topic.SETTING, "Choose a database that the server has"),
			new KnownError("cluster support disabled", Topic.SETTING,
					"It is a single server: configure its host and port instead of cluster nodes"),
			new KnownError(UNKNOWN_HOST, Topic.OTHER, "Check the address"),
			new KnownError(OTHER_PROTOCOL, Topic.OTHER, "Check the address, and whether the server expects TLS"),
			new KnownError("WRONGTYPE", Topic.OTHER,
					"The key holds a value of another type, probably a lock of another library (Redisson's are hashes): "
							+ "choose another distributed-lock.key-prefix"));

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
	 * Describes a reply that is not part of the protocol.
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
	 * @param parser receives the words; may use more words than there are, and parse
	 * words that are not numbers
	 * @return the result of the parser
	 * @throws LockUnavailableException if the reply does not have these words
	 */
	public static <R> R parse(String reply, int maxWords, Function<String[], R> parser) {
		try {
			return parser.apply(reply.split(" ", maxWords));
		}
		catch (IndexOutOfBoundsException | NumberFormatException ex) {
			throw unexpected(reply);
		}
	}

	/**
	 * Describes an interrupt and sets the interrupt flag of the calling thread.
	 * @param cause the driver's exception or an {@link InterruptedException}
	 * @return the exception to throw
	 */
	static LockUnavailableException interrupted(Throwable cause) {
		// the drivers differ in whether they leave the flag set
		Thread.currentThread().interrupt();
		return new LockUnavailableException(
				"interrupted while waiting for Redis, which may have executed the command all the same", cause);
	}

	/** Whether the calling thread was interrupted while it waited. */
	static boolean isInterrupt(Throwable failure) {
		return hasCause(failure, (cause) -> cause instanceof InterruptedException
				|| cause.getClass().getSimpleName().equals("RedisCommandInterruptedException"));
	}

	/** Whether the caller has given up waiting for the reply. */
	static boolean isReplyMissing(Throwable failure) {
		return hasCause(failure, (cause) -> cause instanceof QueryTimeoutException || cause instanceof TimeoutException
				|| cause instanceof SocketTimeoutException);
	}

	/**
	 * Describes a failure with the server's or the driver's own words, and the remedy
	 * where it is known.
	 * @param failure the failure
	 * @return for example {@code Connection refused}
	 */
	public static String describe(Throwable failure) {
		String problem = problems(failure);
		String remedy = remedy(failure);
		return (remedy != null) ? problem + (problem.endsWith("?") ? " " : ". ") + remedy : problem;
	}

	/** Describes a failure without its remedy. */
	static String problems(Throwable failure) {
		return StringUtils.trimTrailingCharacter(roots(failure).map(RedisErrors::problem)
			.distinct()
			.limit(MAX_PROBLEMS)
			.collect(Collectors.joining("; ")), '.');
	}

	/** Returns what to do about a failure, or null. */
	static @Nullable String remedy(Throwable failure) {
		return known(problems(failure)).map(KnownError::remedy).orElse(null);
	}

	private static String problem(Throwable failure) {
		Throwable unknown = cause(failure, UnknownHostException.class::isInstance);
		if (unknown != null) {
			return UNKNOWN_HOST + " (" + String.valueOf(unknown.getMessage()).strip() + ")";
		}
		Throwable refused = cause(failure, ConnectException.class::isInstance);
		Throwable cause = (refused != null) ? refused : NestedExceptionUtils.getMostSpecificCause(failure);
		String message = (cause.getMessage() != null) ? cause.getMessage() : cause.getClass().getName();
		return isOtherProtocol(failure) ? OTHER_PROTOCOL + " (" + message + ")" : message;
	}

	/**
	 * Returns the failures of the nodes that a driver has tried; of a single server, its
	 * only one.
	 */
	private static Stream<Throwable> roots(Throwable failure) {
		Throwable[] nodes = NestedExceptionUtils.getMostSpecificCause(failure).getSuppressed();
		return (nodes.length == 0) ? Stream.of(failure) : Arrays.stream(nodes).flatMap(RedisErrors::roots);
	}

	private static Optional<KnownError> known(String message) {
		return KNOWN.stream().filter((error) -> message.contains(error.words())).findFirst();
	}

	/**
	 * Whether the server refuses what will not change while callers wait: the login, a
	 * permission, the database.
	 * @param failure the failure
	 * @return false if it may succeed later
	 */
	public static boolean isRefusal(Throwable failure) {
		return isLoginRefusal(failure) || isAbout(Topic.SETTING, failure);
	}

	/**
	 * Whether the server refuses the login, so that nothing works.
	 * @param failure the failure
	 * @return false for a missing permission
	 */
	public static boolean isLoginRefusal(Throwable failure) {
		return isAbout(Topic.LOGIN, failure);
	}

	private static boolean isAbout(Topic topic, Throwable failure) {
		return roots(failure)
			.anyMatch((root) -> known(message(root)).filter((error) -> error.topic() == topic).isPresent());
	}

	/** Whether the address is unknown, or not one of a Redis. */
	static boolean isWrongAddress(Throwable failure) {
		return roots(failure)
			.allMatch((root) -> hasCause(root, UnknownHostException.class::isInstance) || isOtherProtocol(root));
	}

	private static boolean isOtherProtocol(Throwable failure) {
		return hasCause(failure,
				(cause) -> NO_PROTOCOL.stream().anyMatch(String.valueOf(cause.getMessage())::startsWith));
	}

	/**
	 * Whether there was no reply or no connection in time, so another attempt may
	 * succeed.
	 * @param failure the failure
	 * @return false if there was a reply, or the connection was refused
	 */
	public static boolean isTimeout(Throwable failure) {
		return hasCause(failure, (cause) -> cause instanceof QueryTimeoutException
				|| cause.getClass().getSimpleName().contains("Timeout"));
	}

	/**
	 * Whether the server has replied, with an error.
	 * @param failure the failure
	 * @return whether there was a reply
	 */
	public static boolean isErrorReply(Throwable failure) {
		Class<?> type = NestedExceptionUtils.getMostSpecificCause(failure).getClass();
		while (type != null && !ERROR_REPLIES.contains(type.getSimpleName())) {
			type = type.getSuperclass();
		}
		return type != null;
	}

	private static boolean hasCause(Throwable failure, Predicate<Throwable> condition) {
		return cause(failure, condition) != null;
	}

	private static @Nullable Throwable cause(Throwable failure, Predicate<Throwable> condition) {
		Throwable next = failure;
		while (next != null && !condition.test(next)) {
			next = next.getCause();
		}
		return next;
	}

	/**
	 * Whether the failure indicates that the known cluster topology is out of date. A
	 * migrating slot alone does not.
	 */
	static boolean isTopologyChange(Throwable failure) {
		return TOPOLOGY_CHANGES.stream().anyMatch(message(failure)::startsWith);
	}

	/**
	 * Whether the server has become a replica.
	 */
	static boolean isReadOnly(Throwable failure) {
		return message(failure).contains("READONLY ");
	}

	/**
	 * Returns the message of the most specific cause, "null" if it has none.
	 */
	static String message(Throwable failure) {
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
