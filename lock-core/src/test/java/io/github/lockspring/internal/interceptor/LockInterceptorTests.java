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

import io.github.lockspring.DistributedLock;
import io.github.lockspring.HeldLock;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.OnBusy;
import io.github.lockspring.OnLost;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.context.annotation.AnnotationConfigApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * What happens when an annotated method is called.
 */
class LockInterceptorTests {

	private final AnnotationConfigApplicationContext context = LockContexts
		.start(LockContexts.properties(Map.of("test.key", "#id", "test.ttl", "10s"), Service.class));

	private final RecordingLocks locks = this.context.getBean(RecordingLocks.class);

	private final Service service = this.context.getBean(Service.class);

	@AfterEach
	void stop() {
		this.context.close();
	}

	@Test
	void runsMethodUnderLock() {
		assertThat(this.service.plain("42")).isEqualTo("plain 42 under 42");
		assertThat(this.locks.lastKeys()).containsExactly("42");
		assertThat(this.locks.last().nameOf("42")).isEqualTo("Service.plain");
		assertThat(this.locks.last().ttl()).isNull();
		assertThat(this.locks.last().isRenewed()).isTrue();
		assertThat(this.locks.last().maxHold()).isNull();
		assertThat(this.locks.last().minHold()).isZero();
		assertThat(this.locks.last().waitTime()).isNull();
		assertThat(this.locks.last().onLost()).isEqualTo(OnLost.THROW);
	}

	@Test
	void forwardsAllAttributes() {
		this.service.attributes("42");
		assertThat(this.locks.lastKeys()).containsExactly("jobs:42");
		assertThat(this.locks.last().nameOf("jobs:42")).isEqualTo("jobs");
		assertThat(this.locks.last().ttl()).hasSeconds(30);
		assertThat(this.locks.last().isRenewed()).isTrue();
		assertThat(this.locks.last().maxHold()).hasHours(1);
		assertThat(this.locks.last().minHold()).hasMillis(1500);
		assertThat(this.locks.last().waitTime()).isEqualTo(Duration.ofMinutes(2));
		assertThat(this.locks.last().onLost()).isEqualTo(OnLost.INTERRUPT);
	}

	@Test
	void namesOfLocksAreThoseOfAllBeans() {
		assertThat(this.context.getBean(LockInterceptor.class).lockNames()).contains("jobs", "Service.plain")
			.doesNotContain("");
	}

	@Test
	void leaseIsRenewedUnlessTheAnnotationSaysFalse() {
		this.service.generous("42");
		assertThat(this.locks.last().isRenewed()).isTrue();
		this.service.unrenewed("42");
		assertThat(this.locks.last().isRenewed()).isFalse();
		assertThat(this.locks.last().ttl()).isNull();
	}

	@Test
	void resolvesPlaceholdersInEveryText() {
		this.service.placeholders("42");
		assertThat(this.locks.lastKeys()).containsExactly("42");
		assertThat(this.locks.last().ttl()).isEqualTo(Duration.ofSeconds(10));
		assertThat(this.locks.last().waitTime()).isNull();
	}

	@Test
	void busyLockThrowsAndMethodDoesNotRun() {
		this.locks.everythingBusy = true;
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> this.service.plain("42"))
			.withMessage("Lock '42' (Service.plain)");
		assertThat(this.service.calls()).isEmpty();
	}

	@Test
	void f22UnavailableLockIsNotSkipped() {
		this.locks.unavailable = true;
		assertThatThrownBy(() -> this.service.skipped("42")).isInstanceOf(LockUnavailableException.class);
		assertThatThrownBy(() -> this.service.plain("42")).isInstanceOf(LockUnavailableException.class);
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
	void packagePrivateAndProtectedMethodsAreLockedThroughClassProxies() {
		this.service.packagePrivate();
		assertThat(this.locks.requests).hasSize(1);
		this.service.protectedMethod();
		assertThat(this.locks.requests).hasSize(2);
	}

	@Test
	void resultThatTurnsOutToBeUnfinishedIsAnError() {
		List<Object> unfinished = List.of(new CompletableFuture<>(), CompletableFuture.completedFuture("done"),
				Stream.of("a"), (Supplier<String>) () -> "a", List.of("a").iterator(),
				Optional.of(new FutureTask<>(() -> "a")));
		for (Object result : unfinished) {
			assertThatThrownBy(() -> this.service.anything(result)).isInstanceOf(IllegalStateException.class)
				.hasMessageContainingAll("Service.anything(Object)", "it returned an object of the type ",
						"the lock was released before", "LockTemplate");
		}
		assertThatThrownBy(() -> this.service.maybe(unfinished.get(0))).isInstanceOf(IllegalStateException.class)
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
			this.calls.add("skipped");
			return Optional.of(id);
		}

		@DistributedLock(key = "'anything'")
		public @Nullable Object anything(@Nullable Object result) {
			return result;
		}

		@DistributedLock(key = "'maybe'")
		public Optional<?> maybe(@Nullable Object result) {
			return Optional.ofNullable(result);
		}

		@DistributedLock(key = "#id")
		public String innermost(String id) {
			return HeldLock.current().orElseThrow().keys().get(0);
		}

		@DistributedLock(key = "#id")
		public String plain(String id) {
			this.calls.add("plain");
			return "plain " + id + " under " + HeldLock.current(id).map((lock) -> lock.keys().get(0)).orElse("nothing");
		}

		@DistributedLock(name = "jobs", key = "#id", ttl = "30s", renew = true, waitTime = "2m", maxHold = "1h",
				minHold = "1500ms", onLost = OnLost.INTERRUPT)
		public void attributes(String id) {
		}

		@DistributedLock(key = "#id", ttl = "PT30S")
		public void generous(String id) {
		}

		@DistributedLock(key = "#id", renew = false)
		public void unrenewed(String id) {
		}

		@DistributedLock(key = "${test.key}", ttl = "${test.ttl}", waitTime = "${test.wait:}")
		public String placeholders(String id) {
			return "";
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

		@DistributedLock(key = "#id")
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
