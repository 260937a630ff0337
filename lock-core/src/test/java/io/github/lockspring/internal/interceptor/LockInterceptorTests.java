package io.github.lockspring.internal.interceptor;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockDefinitionException;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockSpec;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.OnBusy;
import io.github.lockspring.OnLost;
import io.github.lockspring.DistributedLock;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * What happens when an annotated method is called.
 */
class LockInterceptorTests {

	private final AnnotationConfigApplicationContext context = LockContexts.start(LockContexts
		.properties(Map.of("test.key", "#id", "test.ttl", "10s", "test.busy", "whenBusy"), Service.class));

	private final RecordingLocks locks = this.context.getBean(RecordingLocks.class);

	private final Service service = this.context.getBean(Service.class);

	@AfterEach
	void stop() {
		this.context.close();
	}

	@Test
	void runsMethodUnderLock() {
		assertThat(this.service.plain("42")).isEqualTo("plain 42 under 42");
		LockSpec lock = this.locks.last().locks().get(0);
		assertThat(lock).isEqualTo(new LockSpec("42", "Service.plain", null, true, null, Duration.ZERO));
		assertThat(this.locks.last().waitTime()).isNull();
		assertThat(this.locks.last().onLost()).isEqualTo(OnLost.THROW);
	}

	@Test
	void forwardsAllAttributes() {
		this.service.attributes("42");
		LockSpec lock = this.locks.last().locks().get(0);
		assertThat(lock).isEqualTo(new LockSpec("jobs:42", "jobs", Duration.ofSeconds(30), true, Duration.ofHours(1),
				Duration.ofMillis(1500)));
		assertThat(this.locks.last().waitTime()).isEqualTo(Duration.ofMinutes(2));
		assertThat(this.locks.last().onLost()).isEqualTo(OnLost.INTERRUPT);
	}

	@Test
	void namesOfLocksAreThoseOfAllBeans() {
		assertThat(this.context.getBean(LockInterceptor.class).lockNames()).contains("jobs", "account", "Service.plain")
			.doesNotContain("");
	}

	@Test
	void leaseWithTtlIsNotRenewedUnlessRequested() {
		this.service.unrenewed("42");
		assertThat(this.locks.last().locks().get(0).renew()).isFalse();
	}

	@Test
	void resolvesPlaceholdersInEveryText() {
		this.service.placeholders("42");
		assertThat(this.locks.lastKeys()).containsExactly("42");
		assertThat(this.locks.last().locks().get(0).ttl()).isEqualTo(Duration.ofSeconds(10));
		assertThat(this.locks.last().waitTime()).isNull();
	}

	@Test
	void runsWithoutLockWhereConditionIsFalse() {
		assertThat(this.service.conditional(-1)).isEqualTo("unlocked");
		assertThat(this.locks.requests).isEmpty();
		assertThat(this.service.conditional(1)).isEqualTo("locked");
		assertThat(this.locks.requests).hasSize(1);
	}

	@Test
	void takesAllKeysOfRepeatedAnnotationsTogether() {
		this.service.repeated("b", "a");
		assertThat(this.locks.requests).hasSize(1);
		assertThat(this.locks.lastKeys()).containsExactly("account:a", "account:b");
		assertThat(this.locks.last().locks()).extracting(LockSpec::ttl)
			.containsExactly(Duration.ofSeconds(20), Duration.ofSeconds(10));
		assertThat(this.locks.last().waitTime()).isEqualTo(Duration.ofSeconds(1));
	}

	@Test
	void conditionBelongsToEachKey() {
		this.service.repeated("b", "none");
		assertThat(this.locks.lastKeys()).containsExactly("account:b");
	}

	@Test
	void busyLockThrowsAndMethodDoesNotRun() {
		this.locks.everythingBusy = true;
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> this.service.plain("42"))
			.withMessage("Lock '42' (Service.plain)");
		assertThat(this.service.calls()).isEmpty();
	}

	@Test
	void skipReturnsEmptyValueOfReturnType() {
		this.locks.everythingBusy = true;
		this.service.skipVoid();
		assertThat(this.service.skipObject()).isNull();
		assertThat(this.service.skipOptional()).isEmpty();
		assertThat(this.service.skipOptionalLong()).isEmpty();
		assertThat(this.service.skipList()).isEmpty();
		assertThat(this.service.skipSet()).isEmpty();
		assertThat(this.service.skipMap()).isEmpty();
		assertThat(this.service.skipIterable()).isEmpty();
		assertThat(this.service.skipArrayList()).isEmpty();
		assertThat(this.service.skipDeque()).isNull();
		assertThat(this.service.skipArray()).isEmpty();
		assertThat(this.service.skipInt()).isZero();
		assertThat(this.service.skipLong()).isZero();
		assertThat(this.service.skipBoolean()).isFalse();
		assertThat(this.service.skipBooleanObject()).isFalse();
		assertThat(this.service.skipChar()).isEqualTo((char) 0);
		assertThat(this.service.calls()).isEmpty();
	}

	@Test
	void skipMakesOneAttemptUnlessItHasWaitTime() {
		this.service.skipVoid();
		assertThat(this.locks.last().waitTime()).isEqualTo(Duration.ZERO);
		this.service.skipAfterWaiting();
		assertThat(this.locks.last().waitTime()).isEqualTo(Duration.ofSeconds(3));
	}

	@Test
	void skippedCollectionsAreTheCallersOwn() {
		this.locks.everythingBusy = true;
		this.service.skipList().add("x");
		assertThat(this.service.skipList()).isEmpty();
	}

	@Test
	void fallbackIsCalledOnTargetWhenBusy() {
		this.locks.everythingBusy = true;
		assertThat(this.service.withFallback("42")).isEqualTo("busy 42");
		assertThat(this.service.calls()).containsExactly("whenBusy");
	}

	@Test
	void fallbackMayTakeTheException() {
		this.locks.everythingBusy = true;
		assertThat(this.service.withFallbackAndException("42"))
			.isEqualTo("42: Lock '42' (Service.withFallbackAndException)");
	}

	@Test
	void fallbackMayBePrivateAndItsExceptionReachesCaller() {
		this.locks.everythingBusy = true;
		assertThatThrownBy(() -> this.service.withFailingFallback("42")).isInstanceOf(IOException.class)
			.hasMessage("fallback 42")
			.hasNoCause();
	}

	@Test
	void f22FallbackIsNotCalledWhenTheLockIsUnavailable() {
		this.locks.unavailable = true;
		assertThatThrownBy(() -> this.service.withFallback("42")).isInstanceOf(LockUnavailableException.class);
		assertThatThrownBy(() -> this.service.withFallbackAndException("42"))
			.isInstanceOf(LockUnavailableException.class);
		assertThat(this.service.calls()).isEmpty();
	}

	@Test
	void fallbackIsNotCalledWhenFree() {
		assertThat(this.service.withFallback("42")).isEqualTo("free 42");
	}

	@Test
	void busyLockInsideTheWorkIsTheWorksOwnFailure() {
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> this.service.otherBusy("42"))
			.withMessage("inner");
		assertThat(this.service.calls()).isEmpty();
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> this.service.otherBusySkip("42"))
			.withMessage("inner");
	}

	@Test
	void worksOwnExceptionReachesCallerAsItIs() {
		IOException checked = new IOException("disk");
		assertThatThrownBy(() -> this.service.fail(checked)).isSameAs(checked);
		IllegalStateException unchecked = new IllegalStateException();
		assertThatThrownBy(() -> this.service.fail(unchecked)).isSameAs(unchecked);
		Error error = new StackOverflowError();
		assertThatThrownBy(() -> this.service.fail(error)).isSameAs(error);
	}

	@Test
	void conditionThatIsNoBooleanFailsTheCall() {
		assertThatThrownBy(() -> this.service.oddCondition(null)).hasMessageContainingAll(
				"Service.oddCondition(Boolean)", "condition = \"#flag\"", "gives null", "true or false");
	}

	@Test
	void sameKeyRequestedInDifferentWaysFailsTheCall() {
		assertThatThrownBy(() -> this.service.repeated("a", "a"))
			.hasMessageContainingAll("Service.repeated(String, String)", "key = ", "requested twice", "different keys");
	}

	@Test
	void packagePrivateAndProtectedMethodsAreLockedThroughClassProxies() {
		this.service.packagePrivate();
		assertThat(this.locks.requests).hasSize(1);
		this.service.protectedMethod();
		assertThat(this.locks.requests).hasSize(2);
	}

	@Test
	void skipsWhenUnavailableOnlyWhereTheAnnotationSaysSo() {
		this.locks.unavailable = true;
		assertThatThrownBy(() -> this.service.skipped("42")).isInstanceOf(LockUnavailableException.class);
		assertThat(this.service.skippedAlsoUnavailable("42")).isEmpty();
		this.locks.unavailable = false;
		this.locks.everythingBusy = true;
		assertThat(this.service.skippedAlsoUnavailable("42")).isEmpty();
		this.locks.everythingBusy = false;
		assertThat(this.service.skippedAlsoUnavailable("42")).hasValue("42");
		assertThat(this.locks.last().waitTime()).isEqualTo(Duration.ZERO);
	}

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void outageIsLoggedOnceUntilTheLockIsRequestedAgain(CapturedOutput output) {
		this.service.skippedAlsoUnavailable("before");
		List<Runnable> answers = List.of(() -> this.service.skippedAlsoUnavailable("free"), () -> {
			this.locks.everythingBusy = true;
			this.service.skippedAlsoUnavailable("busy");
			this.locks.everythingBusy = false;
		});
		for (int outage = 1; outage <= 4; outage++) {
			this.locks.unavailable = true;
			this.service.skippedAlsoUnavailable("42");
			this.service.skippedAlsoUnavailable("42");
			assertThat(output.getOut()
				.lines()
				.filter((line) -> line.contains(
						"Service.skippedAlsoUnavailable(String) is skipped until its lock can be requested again")))
				.hasSize(outage);
			this.locks.unavailable = false;
			answers.get(outage % 2).run();
		}
	}

	@Test
	void unavailableLockOfTheWorkItselfIsNotSkipped() {
		assertThatThrownBy(() -> this.service.skippedAlsoUnavailable("unavailable"))
			.isInstanceOf(LockUnavailableException.class);
	}

	@Test
	void resultThatTurnsOutToBeUnfinishedIsAnError() {
		List<Object> unfinished = List.of(new CompletableFuture<>(), CompletableFuture.completedFuture("done"),
				Stream.of("a"), (Supplier<String>) () -> "a", List.of("a").iterator(),
				Optional.of(new FutureTask<>(() -> "a")));
		for (Object result : unfinished) {
			assertThatThrownBy(() -> this.service.anything(result)).isInstanceOf(LockDefinitionException.class)
				.hasMessageContainingAll("Service.anything(Object)", "it returned an object of the type ",
						"the lock was released before", "LockTemplate");
		}
		assertThatThrownBy(() -> this.service.maybe(unfinished.get(0))).isInstanceOf(LockDefinitionException.class)
			.hasMessageContaining("it returned an object of the type CompletableFuture");
	}

	@Test
	void otherResultsOfAMethodThatReturnsAnythingAreReturned() {
		assertThat(this.service.anything("a")).isEqualTo("a");
		assertThat(this.service.anything(List.of("a"))).isEqualTo(List.of("a"));
		assertThat(this.service.anything(null)).isNull();
		assertThat(this.service.maybe(null)).isEmpty();
		assertThat((Object) this.service.maybe("a")).isEqualTo(Optional.of("a"));
	}

	@Test
	void innermostLockNeedsNoKey() {
		assertThat(this.service.innermost("42")).isEqualTo("42");
		assertThat(HeldLock.current()).isEmpty();
	}

	static class Service {

		private final List<String> calls = new ArrayList<>();

		public List<String> calls() {
			return this.calls;
		}

		@DistributedLock(key = "#id", onBusy = OnBusy.SKIP)
		public Optional<String> skipped(String id) {
			return Optional.of(id);
		}

		@DistributedLock(key = "#id", onBusy = OnBusy.SKIP_ALSO_UNAVAILABLE)
		public Optional<String> skippedAlsoUnavailable(String id) {
			if (id.equals("unavailable")) {
				throw new LockUnavailableException("the work's own lock");
			}
			return Optional.of(id);
		}

		@DistributedLock("'anything'")
		public @Nullable Object anything(@Nullable Object result) {
			return result;
		}

		@DistributedLock("'maybe'")
		public Optional<?> maybe(@Nullable Object result) {
			return Optional.ofNullable(result);
		}

		@DistributedLock("#id")
		public String innermost(String id) {
			return HeldLock.current().orElseThrow().keys().get(0);
		}

		@DistributedLock("#id")
		public String plain(String id) {
			this.calls.add("plain");
			return "plain " + id + " under " + HeldLock.current(id).map((lock) -> lock.keys().get(0)).orElse("nothing");
		}

		@DistributedLock(name = "jobs", key = "#id", ttl = "30s", renew = true, waitTime = "2m", maxHold = "1h",
				minHold = "1500ms", onLost = OnLost.INTERRUPT)
		public void attributes(String id) {
		}

		@DistributedLock(key = "#id", ttl = "PT30S")
		public void unrenewed(String id) {
		}

		@DistributedLock(key = "${test.key}", ttl = "${test.ttl}", waitTime = "${test.wait:}",
				fallback = "${test.busy}", condition = "${test.key} != null")
		public String placeholders(String id) {
			return "";
		}

		@DistributedLock(key = "#amount", condition = "#amount > 0")
		public String conditional(int amount) {
			return (HeldLock.current("" + amount).isPresent()) ? "locked" : "unlocked";
		}

		@DistributedLock(name = "account", key = "#from", ttl = "10s", waitTime = "2s")
		@DistributedLock(name = "account", key = "#to", ttl = "20s", waitTime = "1s", condition = "#to != 'none'")
		public void repeated(String from, String to) {
		}

		@DistributedLock(onBusy = OnBusy.SKIP)
		public void skipVoid() {
			this.calls.add("skipVoid");
		}

		@DistributedLock(onBusy = OnBusy.SKIP, waitTime = "3s")
		public void skipAfterWaiting() {
		}

		@DistributedLock(onBusy = OnBusy.SKIP)
		public @Nullable Object skipObject() {
			return "x";
		}

		@DistributedLock(onBusy = OnBusy.SKIP)
		public Optional<String> skipOptional() {
			return Optional.of("x");
		}

		@DistributedLock(onBusy = OnBusy.SKIP)
		public OptionalLong skipOptionalLong() {
			return OptionalLong.of(1);
		}

		@DistributedLock(onBusy = OnBusy.SKIP)
		public List<String> skipList() {
			return List.of("x");
		}

		@DistributedLock(onBusy = OnBusy.SKIP)
		public Set<String> skipSet() {
			return Set.of("x");
		}

		@DistributedLock(onBusy = OnBusy.SKIP)
		public SortedMap<String, String> skipMap() {
			throw new IllegalStateException();
		}

		@DistributedLock(onBusy = OnBusy.SKIP)
		public Iterable<String> skipIterable() {
			return List.of("x");
		}

		@DistributedLock(onBusy = OnBusy.SKIP)
		public ArrayList<String> skipArrayList() {
			throw new IllegalStateException();
		}

		@DistributedLock(onBusy = OnBusy.SKIP)
		public @Nullable Deque<String> skipDeque() {
			return new ArrayDeque<>();
		}

		@DistributedLock(onBusy = OnBusy.SKIP)
		public String[] skipArray() {
			return new String[1];
		}

		@DistributedLock(onBusy = OnBusy.SKIP)
		public int skipInt() {
			return 1;
		}

		@DistributedLock(onBusy = OnBusy.SKIP)
		public Long skipLong() {
			return 1L;
		}

		@DistributedLock(onBusy = OnBusy.SKIP)
		public boolean skipBoolean() {
			return true;
		}

		@DistributedLock(onBusy = OnBusy.SKIP)
		public Boolean skipBooleanObject() {
			return true;
		}

		@DistributedLock(onBusy = OnBusy.SKIP)
		public char skipChar() {
			return 'c';
		}

		@DistributedLock(key = "#id", fallback = "whenBusy")
		public String withFallback(String id) {
			return "free " + id;
		}

		public String whenBusy(String id) {
			this.calls.add("whenBusy");
			return "busy " + id;
		}

		@DistributedLock(key = "#id", fallback = "explain")
		public String withFallbackAndException(String id) {
			return "free " + id;
		}

		public String explain(String id, LockNotAcquiredException busy) {
			return id + ": " + busy.getMessage();
		}

		@DistributedLock(key = "#id", fallback = "failingFallback")
		public void withFailingFallback(String id) throws IOException {
		}

		private void failingFallback(String id) throws IOException {
			throw new IOException("fallback " + id);
		}

		@DistributedLock(key = "#id", fallback = "whenBusy")
		public String otherBusy(String id) {
			throw new LockNotAcquiredException("other", "inner");
		}

		@DistributedLock(key = "#id", onBusy = OnBusy.SKIP)
		public @Nullable String otherBusySkip(String id) {
			throw new LockNotAcquiredException("other", "inner");
		}

		@DistributedLock
		public void fail(Throwable failure) throws IOException {
			LockInterceptorTests.<RuntimeException>sneak(failure);
		}

		@DistributedLock(key = "'x'", condition = "#flag")
		public void oddCondition(@Nullable Boolean flag) {
		}

		@DistributedLock
		void packagePrivate() {
		}

		@DistributedLock
		protected void protectedMethod() {
		}

	}

	@SuppressWarnings("unchecked")
	private static <X extends Throwable> void sneak(Throwable failure) throws X {
		throw (X) failure;
	}

}
