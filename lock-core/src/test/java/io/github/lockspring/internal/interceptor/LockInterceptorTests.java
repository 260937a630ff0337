package io.github.lockspring.internal.interceptor;

import java.io.IOException;
import java.time.Duration;
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
import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * What happens when an annotated method is called.
 */
class LockInterceptorTests {

	private final AnnotationConfigApplicationContext context = LockContexts
		.start(LockContexts.properties(Map.of("test.key", "#id", "test.ttl", "10s"), Service.class, Skippers.class));

	private final RecordingLocks locks = this.context.getBean(RecordingLocks.class);

	private final Service service = this.context.getBean(Service.class);

	private final Skipping skipping = this.context.getBean(Skipping.class);

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
	void leaseIsNotRenewedIfTheAnnotationSaysSo() {
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
		this.skipping.nothing();
		assertThat(this.skipping.object()).isNull();
		assertThat(this.skipping.optional()).isEmpty();
		assertThat(this.skipping.optionalLong()).isEmpty();
		assertThat(this.skipping.list()).isEmpty();
		assertThat(this.skipping.set()).isEmpty();
		assertThat(this.skipping.map()).isEmpty();
		assertThat(this.skipping.iterable()).isEmpty();
		assertThat(this.skipping.arrayList()).isEmpty();
		assertThat(this.skipping.deque()).isNull();
		assertThat(this.skipping.array()).isEmpty();
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
		this.skipping.list().add("x");
		assertThat(this.skipping.list()).isEmpty();
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

		@DistributedLock(name = "jobs", key = "#id", ttl = "30s", waitTime = "2m", maxHold = "1h", minHold = "1500ms",
				onLost = OnLost.INTERRUPT)
		public void attributes(String id) {
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
		}

		@DistributedLock(onBusy = OnBusy.SKIP, waitTime = "3s")
		public void skipAfterWaiting() {
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

	@DistributedLock(onBusy = OnBusy.SKIP)
	interface Skipping {

		void nothing();

		@Nullable Object object();

		Optional<String> optional();

		OptionalLong optionalLong();

		List<String> list();

		Set<String> set();

		SortedMap<String, String> map();

		Iterable<String> iterable();

		ArrayList<String> arrayList();

		@Nullable Deque<String> deque();

		String[] array();

	}

	static class Skippers {

		/** None of its methods may be called. */
		@Bean
		Skipping skipping() {
			return ProxyFactory.getProxy(Skipping.class, (MethodInterceptor) (invocation) -> {
				throw new IllegalStateException();
			});
		}

	}

	@SuppressWarnings("unchecked")
	private static <X extends Throwable> void sneak(Throwable failure) throws X {
		throw (X) failure;
	}

}
