package io.github.lockspring.redis;

import java.io.IOException;
import java.util.Arrays;
import java.util.stream.Stream;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisException;

import org.springframework.core.NestedExceptionUtils;

/**
 * Knows what Lettuce means by its exceptions.
 */
final class LettuceFailures {

	private LettuceFailures() {
	}

	/**
	 * Whether there was no connection, or none any more, for a caller who still wants an
	 * answer.
	 */
	static boolean isDisconnection(RuntimeException failure) {
		Throwable cause = NestedExceptionUtils.getMostSpecificCause(failure);
		return (cause.getClass() == RedisException.class || cause instanceof RedisConnectionException
				|| cause instanceof IOException) && !Thread.currentThread().isInterrupted();
	}

	/**
	 * Whether this is what the server said.
	 */
	static boolean isAnswer(RuntimeException failure) {
		return NestedExceptionUtils.getMostSpecificCause(failure) instanceof RedisCommandExecutionException;
	}

	/**
	 * Whether connecting failed for no reason that is known.
	 */
	static boolean isWorthAnotherTry(RuntimeException failure) {
		// What the server says to a wrong password is now and then overtaken by the end
		// of
		// the connection. And the driver may give a connection, such as one to a
		// sentinel,
		// to who waits for it a moment before it lets commands pass.
		Throwable cause = NestedExceptionUtils.getMostSpecificCause(failure);
		return Stream.concat(Stream.of(cause), Arrays.stream(cause.getSuppressed()))
			.map((any) -> String.valueOf(any.getMessage()))
			.anyMatch((words) -> words.equals("Connection closed prematurely")
					|| words.startsWith("Currently not connected"));
	}

}
