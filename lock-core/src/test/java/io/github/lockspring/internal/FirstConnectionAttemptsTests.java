package io.github.lockspring.internal;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.function.Supplier;

import io.github.lockspring.LockUnavailableException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * How often the first connection of a store is tried, and what is said about it.
 */
@ExtendWith(OutputCaptureExtension.class)
class FirstConnectionAttemptsTests {

	private static final Duration SHORT = Duration.ofMillis(500);

	private static final Duration LONG = Duration.ofMinutes(1);

	private static final Predicate<LockUnavailableException> ALWAYS = (problem) -> true;

	private static final Predicate<LockUnavailableException> NEVER = (problem) -> false;

	private final AtomicInteger requests = new AtomicInteger();

	@Test
	void pausesBetweenAttempts(CapturedOutput output) {
		FirstConnection first = first(() -> Stages.failed("no reply"), SHORT, ALWAYS);
		assertThat(first.connected().toCompletableFuture()).succeedsWithin(LONG);
		await().until(() -> Thread.getAllStackTraces()
			.keySet()
			.stream()
			.noneMatch((thread) -> thread.getName().equals("first-attempts")));
		// the pause is a tenth of the timeout
		assertThat(this.requests).hasValueBetween(1, 11);
		assertThat(output).doesNotContain("Not connected: ");
	}

	@Test
	void endsWithTheFirstReply(CapturedOutput output) {
		FirstConnection first = first(
				() -> (this.requests.get() < 3) ? Stages.failed("no reply") : Stages.done("reply"), LONG, ALWAYS);
		assertThat(first.connected().toCompletableFuture()).succeedsWithin(LONG.dividedBy(2));
		assertThat(first.connected().toCompletableFuture()).isDone();
		assertThat(this.requests).hasValue(3);
		assertThat(output).doesNotContain("Not connected: ");
	}

	@Test
	void failureThatIsNotTriedAgainIsOneWarning(CapturedOutput output) {
		FirstConnection first = first(() -> Stages.failed("Connection refused"), LONG, NEVER);
		assertThat(first.connected().toCompletableFuture()).succeedsWithin(LONG.dividedBy(2));
		assertThat(first.connected().toCompletableFuture()).isDone();
		assertThat(this.requests).hasValue(1);
		assertThat(output)
			.containsOnlyOnce("Not connected: Connection refused. Requests for locks may fail until this is corrected");
	}

	@Test
	void remedyOfTheLastFailureIsAWarning(CapturedOutput output) {
		FirstConnection first = first(
				() -> CompletableFuture.failedFuture(
						new LockUnavailableException("no reply", "Check whether it expects TLS", null, false)),
				SHORT, ALWAYS);
		assertThat(first.connected().toCompletableFuture()).succeedsWithin(LONG);
		await().untilAsserted(() -> assertThat(output)
			.containsOnlyOnce("Not connected: no reply. Check whether it expects TLS. Requests for locks may fail"));
	}

	@Test
	void requestThatThrowsIsAFailureToo(CapturedOutput output) {
		FirstConnection first = first(() -> {
			throw new OutOfMemoryError("unable to create native thread");
		}, LONG, NEVER);
		assertThat(first.connected().toCompletableFuture()).succeedsWithin(LONG.dividedBy(2));
		assertThat(output).containsOnlyOnce("Not connected: The store failed unexpectedly: ");
	}

	@Test
	void closedOneIsNotTriedAgainAndSaysNothing(CapturedOutput output) {
		CompletableFuture<Object> reply = new CompletableFuture<>();
		FirstConnection first = first(() -> reply, LONG, ALWAYS);
		CompletableFuture<?> connected = first.connected().toCompletableFuture();
		await().until(() -> this.requests.get() == 1);
		first.close();
		reply.completeExceptionally(new LockUnavailableException("closed", "Check it", null, true));
		assertThat(connected).succeedsWithin(LONG.dividedBy(2));
		assertThat(this.requests).hasValue(1);
		assertThat(output).doesNotContain("Not connected: ");
	}

	private FirstConnection first(Supplier<CompletionStage<Object>> request, Duration timeout,
			Predicate<LockUnavailableException> again) {
		return new FirstConnection("first-attempts", () -> {
			this.requests.incrementAndGet();
			return request.get();
		}, timeout, again);
	}

}
