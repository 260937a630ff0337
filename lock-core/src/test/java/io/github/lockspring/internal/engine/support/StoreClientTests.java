package io.github.lockspring.internal.engine.support;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.engine.FakeTime;
import io.github.lockspring.internal.engine.ScriptedStore;
import io.github.lockspring.internal.engine.support.StoreClient.Owner;
import io.github.lockspring.store.InstanceInfo;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.LockStoreInspector;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.StoreHealth;
import io.github.lockspring.store.StoredLock;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.LoggerFactory;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.slf4j.event.Level.DEBUG;
import static org.slf4j.event.Level.WARN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What a client of the store makes of results and failures, what it measures, and what it
 * asks for messages and for other instances.
 */
@ExtendWith(OutputCaptureExtension.class)
class StoreClientTests {

	private static final Duration TTL = Duration.ofSeconds(30);

	private static final OwnerToken TOKEN = new OwnerToken("AAAAAAAAAAAAAAAAAAAAAA", 1, 1000);

	private static final InstanceInfo INFO = new InstanceInfo("billing", "host", 41);

	private final FakeTime time = new FakeTime();

	private final List<String> calls = new ArrayList<>();

	private @Nullable RuntimeException failure;

	private @Nullable StoredLock stored = new StoredLock("a", TOKEN.toString(), TTL, Duration.ofSeconds(7), 1, 0,
			List.of());

	private Map<String, InstanceInfo> known = Map.of(TOKEN.instance(), INFO);

	private boolean inspectable = true;

	private final ScriptedStore store = new ScriptedStore() {

		@Override
		public String shard(String key) {
			check("shard " + key);
			return "shard of " + key;
		}

		@Override
		public Optional<LockStoreInspector> inspector() {
			return StoreClientTests.this.inspectable ? Optional.of(new Inspector()) : Optional.empty();
		}

		@Override
		public Optional<StoreHealth> health(Duration timeout) {
			return Optional.of(new StoreHealth(List.of(), 1, true));
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
	void ownerIsKnownByItsInstance() {
		assertThat(this.client.owner("a")).contains(new Owner(INFO, Duration.ofSeconds(7)));
		assertThat(this.calls).containsExactly("find a PT0.2S", "instances [" + TOKEN.instance() + "] PT0.2S");
	}

	@Test
	void ownerIsUnknownWhereTheStoreHasNoInspectorNoLockOrNoSuchInstance() {
		this.known = Map.of();
		assertThat(this.client.owner("a")).isEmpty();
		this.stored = new StoredLock("a", "someone else", TTL, null, 1, 0, List.of());
		assertThat(this.client.owner("a")).isEmpty();
		this.stored = null;
		assertThat(this.client.owner("a")).isEmpty();
		assertThat(this.calls).hasSize(4);
		this.inspectable = false;
		assertThat(this.client.owner("a")).isEmpty();
	}

	@Test
	void lookingForAnOwnerNeverFailsAndIsNotWorthAnInterrupt() {
		this.failure = new IllegalStateException("broken");
		assertThat(this.client.owner("a")).isEmpty();
		this.failure = null;
		Thread.currentThread().interrupt();
		assertThat(this.client.owner("a")).isEmpty();
		assertThat(Thread.interrupted()).isTrue();
		assertThat(this.calls).hasSize(1);
	}

	@Test
	void instanceIsRegistered() {
		this.client.register("instance", INFO, TTL);
		assertThat(this.calls).containsExactly("register instance billing on host, pid 41 PT30S PT1S");
		this.failure = new LockUnavailableException("no answer");
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> this.client.register("instance", INFO, TTL))
			.isSameAs(this.failure);
		this.failure = new IllegalStateException("broken");
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> this.client.register("instance", INFO, TTL))
			.withCause(this.failure);
		this.inspectable = false;
		this.client.register("instance", INFO, TTL);
		assertThat(this.calls).hasSize(3);
	}

	@Test
	void registrationIsRepeatedEveryNowAndThenInTheBackground() {
		List<Runnable> tasks = new ArrayList<>();
		InstanceRegistration registration = new InstanceRegistration("instance", this.client, this.time, tasks::add);
		registration.run();
		assertThat(tasks).isEmpty();
		registration.describe(() -> INFO);
		registration.run();
		registration.run();
		assertThat(tasks).hasSize(1);
		tasks.get(0).run();
		assertThat(this.calls).singleElement().asString().startsWith("register instance billing");
		Duration interval = Duration.ofSeconds(20);
		this.time.advance(interval.minusNanos(1));
		registration.run();
		assertThat(tasks).hasSize(1);
		this.time.advance(Duration.ofNanos(1));
		registration.run();
		assertThat(tasks).hasSize(2);
		this.failure = new LockUnavailableException("no answer");
		tasks.get(1).run();
		assertThat(this.calls).hasSize(2);
	}

	@Test
	void registrationWithoutAThreadIsLeftForLater() {
		InstanceRegistration registration = new InstanceRegistration("instance", this.client, this.time, (task) -> {
			throw new OutOfMemoryError("no thread");
		});
		registration.describe(() -> INFO);
		registration.run();
		assertThat(this.calls).isEmpty();
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
		assertThat(this.client.levelOfFailure("a")).as("the first one of an outage").isEqualTo(WARN);
		this.store.onRenew = (again) -> {
			throw new IllegalStateException("broken");
		};
		assertThat(renew()).isEmpty();
		assertThat(this.client.levelOfFailure("a")).isEqualTo(DEBUG);
		this.store.onRenew = (again) -> RenewResult.RENEWED;
		this.time.advance(Duration.ofSeconds(12));
		assertThat(renew()).containsExactly(RenewResult.RENEWED);
		assertThat(output).contains("The store at shard of a answers again: 2 requests of locks had no result in 12s");
		assertThat(this.client.levelOfFailure("a")).as("the next outage").isEqualTo(WARN);
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
		this.client.release(() -> new ReleaseRequest("a", TOKEN), false, (result, failure) -> {
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
			this.client.release(() -> new ReleaseRequest("a", TOKEN), false,
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
		this.client.unanswered("a");
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
			measured.release(() -> request, false, (answer, failure) -> {
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

	private final class Inspector implements LockStoreInspector {

		@Override
		public Optional<StoredLock> find(String key, Duration timeout) {
			check("find " + key + " " + timeout);
			return Optional.ofNullable(StoreClientTests.this.stored);
		}

		@Override
		public boolean forceRelease(StoredLock seen, Duration timeout) {
			return false;
		}

		@Override
		public void register(String instance, InstanceInfo info, Duration ttl, Duration timeout) {
			check("register " + instance + " " + info + " " + ttl + " " + timeout);
		}

		@Override
		public Map<String, InstanceInfo> instances(Collection<String> instances, Duration timeout) {
			check("instances " + instances + " " + timeout);
			return StoreClientTests.this.known;
		}

	}

}
