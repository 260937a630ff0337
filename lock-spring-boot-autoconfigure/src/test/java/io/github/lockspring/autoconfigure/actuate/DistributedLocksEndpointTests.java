package io.github.lockspring.autoconfigure.actuate;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.autoconfigure.Applications;
import io.github.lockspring.autoconfigure.actuate.LockDescriptors.ForcedRelease;
import io.github.lockspring.autoconfigure.actuate.LockDescriptors.Key;
import io.github.lockspring.autoconfigure.actuate.LockDescriptors.Local;
import io.github.lockspring.autoconfigure.actuate.LockDescriptors.Locks;
import io.github.lockspring.autoconfigure.actuate.LockDescriptors.Problem;
import io.github.lockspring.autoconfigure.actuate.LockDescriptors.Stored;
import io.github.lockspring.internal.KeyedLock;
import io.github.lockspring.internal.LabelledRequest;
import io.github.lockspring.testsupport.redis.RedisServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.actuate.autoconfigure.endpoint.PropertiesEndpointAccessResolver;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.boot.convert.ApplicationConversionService;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.core.env.Environment;
import org.springframework.mock.env.MockEnvironment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What the endpoint shows, and its forced release.
 */
@ExtendWith(OutputCaptureExtension.class)
class DistributedLocksEndpointTests {

	private static final String[] EXPOSED = { "management.endpoints.web.exposure.include=distributedlocks" };

	/** For the first answers of a server on a busy machine. */
	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private final ApplicationContextRunner memory = Applications.inMemory().withPropertyValues(EXPOSED);

	private final String key = "shown " + UUID.randomUUID();

	private ApplicationContextRunner redis(String application) {
		return Applications.onSharedServer()
			.withPropertyValues(EXPOSED)
			.withPropertyValues("spring.application.name=" + application, "HOSTNAME=" + application + "-7c9f");
	}

	@Test
	@Tag("endpoint-creates-nothing")
	void applicationThatHasRequestedNoLockHasNoneAndItsEngineIsNotCreated() {
		this.memory.run((context) -> {
			assertThat(page(context, null, null)).isEqualTo(new Locks(0, 0, 0, 100, 0, List.of()));
			assertThat(status(endpoint(context).locks("order:42", null, null))).isEqualTo(404);
			assertThat(((Problem) body(endpoint(context).locks("order:42", null, null))).reason())
				.contains("requested no lock since its start");
			assertThat(status(endpoint(context).release("order:42", SecurityContext.NONE))).isEqualTo(404);
			assertThat(context.getBeanFactory().containsSingleton("lockspringLockEngine")).isFalse();
			assertThat(context.getBeanFactory().containsSingleton("lockspringMemoryLockStore")).isFalse();
		});
	}

	@Test
	void heldLocksAreShownWithTheirHolderLongestFirst() {
		this.memory.run((context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class);
			HeldLock first = locks
				.acquire(new LabelledRequest(LockRequest.of("b"), List.of("b"), "Shop.sell").ttl(Duration.ofSeconds(20))
					.renew(false));
			((KeyedLock) first).verify();
			HeldLock second = locks.acquire(LockRequest.of("a"));
			CompletableFuture<Void> waiter = CompletableFuture
				.runAsync(() -> locks.acquire(LockRequest.of("b").waitTime(PATIENCE)).close());
			await().until(() -> page(context, null, null).waiting() == 1);
			Locks page = page(context, null, null);
			assertThat(page.held()).isEqualTo(2);
			assertThat(page.locks()).extracting(Local::key).containsExactly("b", "a");
			Local shown = page.locks().get(0);
			assertThat(shown.name()).isEqualTo("Shop.sell");
			assertThat(shown.thread()).isEqualTo(Thread.currentThread().getName());
			assertThat(shown.leaseLeft()).isBetween(Duration.ofSeconds(5), Duration.ofSeconds(20));
			assertThat(shown.fencingToken()).isEqualTo(first.fencingToken());
			assertThat(shown.renewals()).isOne();
			assertThat(shown.waiting()).isOne();
			assertThat(shown.transaction()).isFalse();
			second.close();
			first.close();
			waiter.join();
			assertThat(page(context, null, null).total()).isZero();
		});
	}

	@Test
	@Tag("endpoint-stops-no-lock")
	void fiftyThousandLocksAreShownWithinASecondAndStopNone() {
		this.memory.run((context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class);
			List<HeldLock> held = new ArrayList<>();
			for (int i = 0; i < 50_000; i++) {
				held.add(locks.acquire(LockRequest.of("order:" + i).ttl(Duration.ofMinutes(30)).renew(false)));
			}
			AtomicLong rounds = new AtomicLong();
			AtomicBoolean stopping = new AtomicBoolean();
			CompletableFuture<Void> other = CompletableFuture.runAsync(() -> {
				while (!stopping.get()) {
					locks.executeWithoutResult(LockRequest.of("busy"), (lock) -> rounds.incrementAndGet());
				}
			}, (task) -> new Thread(task).start());
			// on a busy machine a thread may wait for long for its turn
			ThreadMXBean threads = ManagementFactory.getThreadMXBean();
			List<Duration> took = new ArrayList<>();
			for (int undisturbed = 0; undisturbed < 5;) {
				assertThat(took).as("pages, of which %d let the other thread go on", undisturbed).hasSizeLessThan(100);
				long before = rounds.get();
				long start = threads.getCurrentThreadCpuTime();
				Locks page = page(context, 499, 100);
				took.add(Duration.ofNanos(threads.getCurrentThreadCpuTime() - start));
				assertThat(page.held()).isBetween(50_000, 50_001);
				assertThat(page.locks()).hasSize(100);
				// one more may have been about to end
				undisturbed += (rounds.get() - before > 1) ? 1 : 0;
			}
			stopping.set(true);
			other.join();
			assertThat(took).anyMatch((time) -> time.compareTo(Duration.ofSeconds(1)) < 0);
			held.forEach(HeldLock::close);
		});
	}

	@Test
	void storeSaysWhoHoldsALockAndWhoWaits() {
		redis("billing").run((holder) -> redis("shop").run((other) -> {
			try (HeldLock lock = template(holder).acquire(LockRequest.of(this.key).waitTime(PATIENCE))) {
				CompletableFuture<Void> waiter = CompletableFuture
					.runAsync(() -> template(other).acquire(LockRequest.of(this.key).waitTime(PATIENCE)).close());
				await().untilAsserted(() -> {
					Key shown = key(other, this.key);
					Stored stored = shown.store();
					assertThat(stored).isNotNull();
					assertThat(stored.owner().application()).isEqualTo("billing");
					assertThat(stored.owner().host()).isEqualTo("billing-7c9f");
					assertThat(stored.owner().pid()).isEqualTo(ProcessHandle.current().pid());
					assertThat(stored.since()).isNotNull();
					assertThat(stored.leaseLeft()).isBetween(Duration.ofSeconds(10), Duration.ofSeconds(30));
					assertThat(stored.waiting()).isOne();
					assertThat(stored.queue().get(0).application()).isEqualTo("shop");
					assertThat(shown.here().held()).isFalse();
					assertThat(shown.here().waiting()).isOne();
				});
				assertThat(key(holder, this.key).here().fencingToken()).isEqualTo(lock.fencingToken());
				lock.close();
				waiter.join();
			}
			WebEndpointResponse<?> free = endpoint(other).locks(this.key, null, null);
			assertThat(status(free)).isEqualTo(404);
			assertThat(((Problem) body(free)).reason()).contains("Lock '" + this.key + "' is free");
		}));
	}

	@Test
	void clientThatIsNotOfThisLibraryIsShownAsItIs() {
		redis("shop").run((context) -> {
			template(context).acquire(LockRequest.of(this.key + "first").waitTime(PATIENCE)).close();
			RedisServer.shared().command("SET", "lock:" + this.key, "somebody's random value");
			Stored stored = key(context, this.key).store();
			assertThat(stored.owner()).isNull();
			assertThat(stored.foreignOwner()).isEqualTo("somebody's random value");
			assertThat(stored.leaseLeft()).isNull();
			assertThat(stored.since()).isNull();
			assertThat(status(endpoint(context).release(this.key, SecurityContext.NONE))).isEqualTo(200);
			assertThat(RedisServer.shared().exists("lock:" + this.key)).isFalse();
		});
	}

	@Test
	@Tag("forced-release")
	void forcedReleaseTellsAHolderElsewhereAndTokensGrow(CapturedOutput output) {
		redis("billing").run((holder) -> redis("shop").run((other) -> {
			HeldLock lock = template(holder)
				.acquire(LockRequest.of(this.key).ttl(Duration.ofMinutes(10)).renew(false).waitTime(PATIENCE));
			template(other).acquire(LockRequest.of(this.key + "first").waitTime(PATIENCE)).close();
			await().until(() -> key(other, this.key).store().owner().host() != null);
			WebEndpointResponse<?> response = endpoint(other).release(this.key, security("ada"));
			assertThat(status(response)).isEqualTo(200);
			assertThat(((ForcedRelease) body(response)).released().owner().host()).isEqualTo("billing-7c9f");
			assertThat(output).containsPattern("Lock '" + this.key
					+ "' was released by force by ada. Its holder was instance .* .billing on bill");
			// the lease of the first holder is not renewed: it learns of it at the end
			assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::close);
			try (HeldLock next = template(other).acquire(LockRequest.of(this.key).waitTime(Duration.ZERO))) {
				assertThat(next.fencingToken()).isGreaterThan(lock.fencingToken());
			}
		}));
	}

	@ParameterizedTest
	@ValueSource(strings = { "management.endpoint.distributedlocks.access=unrestricted",
			"management.endpoint.distributedlocks.enabled=true", "management.endpoints.access.default=unrestricted",
			"management.endpoints.enabled-by-default=true" })
	void forcedReleaseIsOpenWithTheSettingsOfThePageOnly(String setting) {
		MockEnvironment environment = new MockEnvironment();
		environment.setConversionService(new ApplicationConversionService());
		assertThat(access(environment)).isEqualTo(Access.READ_ONLY);
		String[] property = setting.split("=");
		environment.setProperty(property[0], property[1]);
		assertThat(access(environment)).isEqualTo(Access.UNRESTRICTED);
		environment.setProperty("management.endpoints.access.max-permitted", "read-only");
		assertThat(access(environment)).isEqualTo(Access.READ_ONLY);
	}

	private static Access access(Environment environment) {
		WebEndpoint endpoint = DistributedLocksEndpoint.class.getAnnotation(WebEndpoint.class);
		return new PropertiesEndpointAccessResolver(environment).accessFor(EndpointId.of(endpoint.id()),
				endpoint.defaultAccess());
	}

	@Test
	void forcedReleaseHandsTheLockOverToAWaiter() {
		redis("billing").run((holder) -> redis("shop").run((other) -> {
			HeldLock lock = template(holder)
				.acquire(LockRequest.of(this.key).ttl(Duration.ofMinutes(10)).renew(false).waitTime(PATIENCE));
			CompletableFuture<Long> waiter = CompletableFuture.supplyAsync(() -> {
				try (HeldLock next = template(other).acquire(LockRequest.of(this.key).waitTime(PATIENCE))) {
					return next.fencingToken();
				}
			});
			await().until(() -> key(holder, this.key).store().waiting() == 1);
			assertThat(status(endpoint(other).release(this.key, SecurityContext.NONE))).isEqualTo(200);
			assertThat(waiter.join()).isGreaterThan(lock.fencingToken());
			assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::close);
		}));
	}

	@Test
	@Tag("forced-release")
	void holderInTheSameInstanceLearnsOfTheForcedReleaseAtOnce() {
		this.memory.run((context) -> {
			HeldLock lock = template(context).acquire(LockRequest.of(this.key));
			assertThat(status(endpoint(context).release(this.key, security("ada")))).isEqualTo(200);
			assertThat(lock.isHeld()).isFalse();
			template(context).acquire(LockRequest.of(this.key).waitTime(Duration.ZERO)).close();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::close)
				.withMessageContaining("it was released by force");
			assertThat(status(endpoint(context).release(this.key, security("ada")))).isEqualTo(404);
		});
	}

	@Test
	@Tag("names-of-instances")
	void messageOfAFailedWaitNamesTheHolder() {
		redis("billing").run((holder) -> redis("shop").run((other) -> {
			try (HeldLock lock = template(holder).acquire(LockRequest.of(this.key).waitTime(PATIENCE))) {
				await().untilAsserted(() -> assertThatExceptionOfType(LockNotAcquiredException.class)
					.isThrownBy(() -> template(other).acquire(LockRequest.of(this.key).waitTime(Duration.ofMillis(50))))
					.withMessageMatching(".* It is held by billing, for [\\d.]+m?s\\."));
				assertThat(lock.isHeld()).isTrue();
			}
		}));
	}

	@Test
	void pagesThatAreNoneAreRefused() {
		this.memory.run((context) -> {
			for (WebEndpointResponse<?> response : List.of(endpoint(context).locks(null, -1, 100),
					endpoint(context).locks(null, 0, 0), endpoint(context).locks(null, 0, 1001))) {
				assertThat(status(response)).isEqualTo(400);
				assertThat(((Problem) body(response)).reason()).contains("page must be 0 or more and size 1 to 1000");
			}
		});
	}

	@Test
	void endpointThatIsNotExposedIsNotThere() {
		Applications.inMemory().run((context) -> assertThat(context).doesNotHaveBean(DistributedLocksEndpoint.class));
	}

	private static LockTemplate template(ApplicationContext context) {
		return context.getBean(LockTemplate.class);
	}

	private static DistributedLocksEndpoint endpoint(ApplicationContext context) {
		return context.getBean(DistributedLocksEndpoint.class);
	}

	private static Locks page(ApplicationContext context, Integer page, Integer size) {
		return (Locks) body(endpoint(context).locks(null, page, size));
	}

	private static Key key(ApplicationContext context, String key) {
		WebEndpointResponse<?> response = endpoint(context).locks(key, null, null);
		assertThat(status(response)).isEqualTo(200);
		return (Key) body(response);
	}

	private static Object body(WebEndpointResponse<?> response) {
		return response.getBody();
	}

	private static int status(WebEndpointResponse<?> response) {
		return response.getStatus();
	}

	private static SecurityContext security(String user) {
		return new SecurityContext() {

			@Override
			public java.security.Principal getPrincipal() {
				return () -> user;
			}

			@Override
			public boolean isUserInRole(String role) {
				return false;
			}

		};
	}

}
