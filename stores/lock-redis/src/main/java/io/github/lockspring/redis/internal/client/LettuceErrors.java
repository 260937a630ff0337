package io.github.lockspring.redis.internal.client;

import java.io.IOException;
import java.util.Arrays;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisException;

import org.springframework.core.NestedExceptionUtils;

/**
 * Classifies the exceptions of Lettuce.
 */
final class LettuceErrors {

	private LettuceErrors() {
	}

	/**
	 * Whether there was no connection, or it broke, and the caller was not interrupted.
	 */
	static boolean isDisconnection(RuntimeException failure) {
		Throwable cause = NestedExceptionUtils.getMostSpecificCause(failure);
		return (cause.getClass() == RedisException.class || cause instanceof RedisConnectionException
				|| cause instanceof IOException) && !Thread.currentThread().isInterrupted();
	}

	/**
	 * Whether this is an error reply of the server.
	 */
	static boolean isErrorReply(RuntimeException failure) {
		return NestedExceptionUtils.getMostSpecificCause(failure) instanceof RedisCommandExecutionException;
	}

	/**
	 * Connects, and tries once more if that fails without a known reason.
	 */
	static <T> T connect(Supplier<T> connection) {
		try {
			return connection.get();
		}
		catch (RuntimeException ex) {
			if (!isWorthAnotherTry(ex)) {
				throw ex;
			}
			return connection.get();
		}
	}

	/**
	 * Whether connecting failed for no known reason. The reply to a wrong password is
	 * sometimes overtaken by the end of the connection. And the driver may hand out a
	 * connection, such as one to a sentinel, a moment before it accepts commands.
	 */
	static boolean isWorthAnotherTry(RuntimeException failure) {
		Throwable cause = NestedExceptionUtils.getMostSpecificCause(failure);
		return Stream.concat(Stream.of(cause), Arrays.stream(cause.getSuppressed()))
			.map((any) -> String.valueOf(any.getMessage()))
			.anyMatch((message) -> message.equals("Connection closed prematurely")
					|| message.startsWith("Currently not connected"));
	}

}
