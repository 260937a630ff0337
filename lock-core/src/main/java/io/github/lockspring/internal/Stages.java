package io.github.lockspring.internal;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

import io.github.lockspring.LockUnavailableException;
import org.jspecify.annotations.Nullable;

/**
 * Turns calls into stages, and waits for stages.
 *
 * @since 0.1
 */
public final class Stages {

	private Stages() {
	}

	/**
	 * Calls a blocking driver on the present thread.
	 * @param <T> the type of the result
	 * @param call the call
	 * @return a completed stage, which has failed if the call has
	 */
	public static <T extends @Nullable Object> CompletionStage<T> call(Supplier<T> call) {
		try {
			return CompletableFuture.completedFuture(call.get());
		}
		catch (RuntimeException | Error ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	/**
	 * Returns a stage that is complete.
	 * @param <T> the type of the result
	 * @param result the result
	 * @return the stage
	 */
	public static <T extends @Nullable Object> CompletionStage<T> done(T result) {
		return CompletableFuture.completedFuture(result);
	}

	/**
	 * Returns a stage that has failed.
	 * @param <T> the type of the result
	 * @param message why the store has no usable result
	 * @return the stage, which has failed with {@link LockUnavailableException}
	 */
	public static <T extends @Nullable Object> CompletionStage<T> failed(String message) {
		return CompletableFuture.failedFuture(new LockUnavailableException(message));
	}

	/**
	 * Waits for a stage.
	 * @param <T> the type of the result
	 * @param stage the stage
	 * @param timeout longest wait
	 * @return the result
	 * @throws LockUnavailableException if there is none in time, the stage has failed, or
	 * the thread is interrupted, which then stays interrupted
	 */
	public static <T extends @Nullable Object> T join(CompletionStage<T> stage, Duration timeout) {
		try {
			return stage.toCompletableFuture().get(timeout.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (TimeoutException ex) {
			throw new LockUnavailableException("The store has not answered within " + timeout.toMillis() + " ms");
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new LockUnavailableException("Interrupted while waiting for the store", ex);
		}
		catch (ExecutionException ex) {
			throw unavailable(ex);
		}
	}

	/**
	 * Returns why a stage has failed.
	 * @param failure what it was completed with
	 * @return the exception of the store, or one that says that the store has failed
	 * unexpectedly
	 */
	public static LockUnavailableException unavailable(Throwable failure) {
		Throwable cause = failure;
		while ((cause instanceof CompletionException || cause instanceof ExecutionException)
				&& cause.getCause() != null) {
			cause = cause.getCause();
		}
		return (cause instanceof LockUnavailableException known) ? known
				: new LockUnavailableException("The store failed unexpectedly: " + cause, cause);
	}

}
