package io.github.lockspring.internal.engine.support;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.engine.FakeTime;
import io.github.lockspring.internal.engine.ScriptedStore;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.OwnerToken;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.LoggerFactory;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.slf4j.event.Level.DEBUG;
import static org.slf4j.event.Level.WARN;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a client of the store makes of results and failures, and what it measures.
 */
@ExtendWith(OutputCaptureExtension.class)
class StoreClientTests {

	private static final Duration TTL = Duration.ofSeconds(30);

	private static final OwnerToken TOKEN = new OwnerToken("AAAAAAAAAAAAAAAAAAAAAA", 1, 1000);

	private final FakeTime time = new FakeTime();

	private final List<String> calls = new ArrayList<>();

	private @Nullable RuntimeException failure;

	private final ScriptedStore store = new ScriptedStore() {

		@Override
		public String shard(String key) {
			check("shard " + key);
			return "shard of " + key;
		}

		@Override
		public void close() {
			StoreClientTests.this.calls.add("close");
		}

	};

	private final List<String> failures = new ArrayList<>();

	private static final EngineThreads.Executors EXECUTORS = new EngineThreads.Executors(Runnable::run, Runnable::run,
			Runnable::run, Runnable::run);

	private final StoreClient client = new StoreClient(this.store, Duration.ofSeconds(1),
			new LockEvents(LockEvents.NOBODY, LockRecorder.NONE, Runnable::run), this.time, EXECUTORS);

	private void check(String call) {
		this.calls.add(call);
		if (this.failure != null) {
			throw this.failure;
		}
	}

	@Test
	void endOfAnOutageSaysHowLongItWas(CapturedOutput output) {
		Logger logger = (Logger) LoggerFactory.getLogger(StoreClient.class);
		logger.setLevel(Level.INFO);
		try {
			failAndAnswer(output);
		}
		finally {
			logger.setLevel(null);
		}
	}

	private void failAndAnswer(CapturedOutput output) {
		this.store.onRenew = (request) -> {
			throw new LockUnavailableException("no answer");
		};
		assertThat(renew()).isEmpty();
		assertThat(this.client.noteFailure("a")).as("the first one of an outage").isEqualTo(WARN);
		this.store.onRenew = (again) -> {
			throw new IllegalStateException("broken");
		};
		assertThat(renew()).isEmpty();
		assertThat(this.client.noteFailure("a")).isEqualTo(DEBUG);
		this.store.onRenew = (again) -> RenewResult.RENEWED;
		this.time.advance(Duration.ofSeconds(12));
		assertThat(renew()).containsExactly(RenewResult.RENEWED);
		assertThat(output)
			.contains("The store at shard of a answers again: requests of locks had no result for up to 12s");
		assertThat(this.client.noteFailure("a")).as("the next outage").isEqualTo(WARN);
		assertThat(this.failures).containsExactly("no answer",
				"The store failed unexpectedly: java.lang.IllegalStateException: broken");
	}

	/** As the watchdog sends it; empty without a result. */
	private List<RenewResult> renew() {
		List<RenewResult> answers = new ArrayList<>();
		this.client.renew(List.of(new RenewRequest("a", TOKEN, TTL)), false, (results, failure) -> {
			if (results != null) {
				answers.addAll(results);
			}
			else {
				this.failures.add(failure.getMessage());
			}
		});
		return answers;
	}

	@Test
	void receiverOfAnAnswerThatFailsIsReported(CapturedOutput output) {
		this.client.release("a", () -> new ReleaseRequest("a", TOKEN), false, (result, failure) -> {
			throw new IllegalStateException("broken");
		});
		assertThat(output).contains("ERROR").contains("An answer about lock 'a' could not be used");
	}

	@Test
	void storeThatFailsInAnyWayHasNoResult() {
		List<@Nullable LockUnavailableException> failures = new ArrayList<>();
		LockUnavailableException known = new LockUnavailableException("no answer");
		List<Supplier<@Nullable CompletionStage<ReleaseResult>>> all = List.of(() -> {
			throw new NoClassDefFoundError("broken");
		}, () -> CompletableFuture.failedFuture(new NoClassDefFoundError("broken")), () -> null,
				() -> CompletableFuture.completedFuture(null),
				() -> CompletableFuture.failedFuture(new CompletionException(known)));
		for (Supplier<@Nullable CompletionStage<ReleaseResult>> each : all) {
			this.store.onReleaseAsync = (request) -> each.get();
			this.client.release("a", () -> new ReleaseRequest("a", TOKEN), false,
					(result, failure) -> failures.add(failure));
		}
		assertThat(failures).hasSize(5).doesNotContainNull().last().isSameAs(known);
	}

	@Test
	void serverIsSilentWhenARequestFailsAfterHalfOfItsTimeUntilAnyAnswer() {
		failAfter(Duration.ofMillis(500).minusNanos(1));
		assertThat(this.client.isSilentFor("a")).isFalse();
		failAfter(Duration.ofMillis(500));
		assertThat(this.client.isSilentFor("a")).isTrue();
		this.store.onRenew = (request) -> RenewResult.NOT_OWNER;
		renew();
		assertThat(this.client.isSilentFor("a")).isFalse();
		this.client.noteUnanswered("a");
		assertThat(this.client.isSilentFor("a")).isTrue();
	}

	private void failAfter(Duration took) {
		this.store.onRenew = (request) -> {
			this.time.advance(took);
			throw new LockUnavailableException("no answer");
		};
		renew();
	}

	@Test
	void shardIsThatOfTheStoreUnlessItFails() {
		assertThat(this.client.shard("a")).isEqualTo("shard of a");
		this.failure = new IllegalStateException("broken");
		assertThat(this.client.shard("a")).isEmpty();
	}

	@Test
	void requestsAreMeasured() {
		List<String> commands = new ArrayList<>();
		StoreClient measured = new StoreClient(this.store, Duration.ofSeconds(1),
				new LockEvents(LockEvents.NOBODY, new LockRecorder() {
					@Override
					public void commanded(Command command, String shard, boolean answered, long took) {
						commands.add(command + " " + shard + " " + answered + " " + took);
					}
				}, Runnable::run), this.time, EXECUTORS);
		ReleaseRequest request = new ReleaseRequest("a", TOKEN);
		for (boolean answered : new boolean[] { true, false }) {
			CompletableFuture<ReleaseResult> result = new CompletableFuture<>();
			this.store.onReleaseAsync = (sent) -> result;
			measured.release("a", () -> request, false, (answer, failure) -> {
			});
			this.time.advance(Duration.ofNanos(5));
			if (answered) {
				result.complete(new ReleaseResult.Released());
			}
			else {
				result.completeExceptionally(new LockUnavailableException("no answer"));
			}
		}
		this.store.onRenew = (renewal) -> {
			this.time.advance(Duration.ofNanos(7));
			return RenewResult.RENEWED;
		};
		measured.renew(List.of(new RenewRequest("a", TOKEN, TTL)), false, (results, failure) -> {
		});
		assertThat(commands).containsExactly("RELEASE shard of a true 5", "RELEASE shard of a false 5",
				"RENEW shard of a true 7");
	}

}
