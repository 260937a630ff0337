package io.github.lockspring.autoconfigure;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.options.GetOption;
import io.github.lockspring.DistributedLock;
import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.etcd.EtcdLockStore;
import io.github.lockspring.internal.KeyedLock;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.testsupport.etcd.EtcdProcess;
import io.github.lockspring.testsupport.etcd.RequiresEtcd;
import io.github.lockspring.testsupport.network.TestCertificate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The store in etcd in an application.
 */
class EtcdLockStoreAutoConfigurationTests {

	private static final FilteredClassLoader WITHOUT_OTHERS = new FilteredClassLoader("io.github.lockspring.redis",
			"io.github.lockspring.jdbc", "io.github.lockspring.zookeeper");

	private static final String PASSWORD = "a-password-that-nobody-shows";

	private static final LockRequest REQUEST = LockRequest.of("a").waitTime(Duration.ofMillis(500));

	private final ApplicationContextRunner runner = Applications.withoutRedis()
		.withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class))
		.withPropertyValues("distributed-lock.store=etcd");

	private ApplicationContextRunner on(String endpoint) {
		return this.runner.withPropertyValues("distributed-lock.etcd.endpoints=" + endpoint);
	}

	@Test
	@RequiresEtcd
	@Tag("remains-etcd")
	void locksHaveTheKeyPrefixAndNothingIsLeft() {
		EtcdProcess server = EtcdProcess.shared();
		// those of other tests
		await().until(() -> server.leases() == 0);
		on(server.address()).run((context) -> {
			assertThat(context).hasSingleBean(LockStore.class)
				.hasSingleBean(EtcdLockStore.class)
				.doesNotHaveBean(Client.class);
			try (HeldLock lock = context.getBean(LockTemplate.class).acquire(LockRequest.of("a/b"))) {
				assertThat(lock.isHeld()).isTrue();
				assertThat(server.entries("a/b")).isOne();
			}
			// a lease that was left would last for 30 s
			await().atMost(Duration.ofSeconds(20)).until(() -> server.entries("a/b") == 0 && server.leases() == 0);
		});
	}

	@Test
	@RequiresEtcd
	@Tag("etcd-client-bean")
	void clientOfTheApplicationIsUsedAndNotClosed() throws Exception {
		ByteSequence namespace = bytes("theirs/");
		try (Client client = Client.builder().endpoints(EtcdProcess.shared().address()).namespace(namespace).build();
				Client other = Client.builder().endpoints(EtcdProcess.shared().address()).build()) {
			on("http://localhost:1").withBean(Client.class, () -> client).run((context) -> {
				try (HeldLock lock = context.getBean(LockTemplate.class).acquire(LockRequest.of("a"))) {
					assertThat(lock.isHeld()).isTrue();
					assertThat(count(other, "theirs/lock:a/")).isOne();
				}
				context.getBean(EtcdLockStore.class).close();
				assertThat(count(client, "lock:")).isZero();
			});
		}
	}

	private static long count(Client client, String prefix) throws Exception {
		return client.getKVClient()
			.get(bytes(prefix), GetOption.builder().isPrefix(true).withCountOnly(true).build())
			.get()
			.getCount();
	}

	private static ByteSequence bytes(String text) {
		return ByteSequence.from(text, StandardCharsets.UTF_8);
	}

	@Test
	void onlyStoreOnTheClassPathNeedsNoProperty() {
		Applications.withoutRedis()
			.withClassLoader(WITHOUT_OTHERS)
			.withPropertyValues("distributed-lock.store=")
			.run((context) -> assertThat(context).hasSingleBean(EtcdLockStore.class));
	}

	@Test
	void missingModuleIsNamed() {
		FailureAnalysis failure = StartupFailures.of(this.runner.withUserConfiguration(LockedService.class)
			.withClassLoader(new FilteredClassLoader("io.github.lockspring.etcd")));
		assertThat(failure.getDescription()).contains("distributed-lock.store=etcd needs the module lock-etcd");
		assertThat(failure.getAction()).contains("lock-spring-boot-starter-etcd");
	}

	@Test
	void annotationWithATtlBelowTwoSecondsStopsTheStartWithBothNumbers() {
		FailureAnalysis failure = StartupFailures.of(this.runner.withUserConfiguration(Brief.class));
		assertThat(failure.getDescription()).contains("ttl = \"1s\"")
			.contains("the store of this application cannot give less than 2s");
	}

	@Test
	void serverThatIsNotThereIsNamedWithThePropertyToCheck() {
		on("http://127.0.0.1:1").withUserConfiguration(LockedService.class)
			.run((context) -> assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> context.getBean(LockTemplate.class).acquire(REQUEST))
				.withStackTraceContaining("127.0.0.1:1")
				.withStackTraceContaining("Connection refused")
				.withStackTraceContaining("Check distributed-lock.etcd.endpoints")
				.matches((ex) -> !ex.isPermanent()));
	}

	/** Tokens of authentication that end after a second have to be replaced meanwhile. */
	@Test
	@RequiresEtcd
	@Tag("rights-etcd")
	void userWithItsPasswordGetsLocksAndOthersReadWhatToDo() {
		try (EtcdProcess server = EtcdProcess.alone("--auth-token-ttl", "1")) {
			ApplicationContextRunner application = on(server.address());
			user(application, PASSWORD).run((context) -> assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> context.getBean(LockTemplate.class).acquire(LockRequest.of("a")))
				.withStackTraceContaining("Leave out distributed-lock.etcd.username")
				.matches(LockUnavailableException::isPermanent));
			server.authenticate("shop", PASSWORD);
			user(application, PASSWORD).withPropertyValues("distributed-lock.ttl=6s").run((context) -> {
				try (HeldLock lock = context.getBean(LockTemplate.class).acquire(LockRequest.of("a"))) {
					await().pollDelay(Duration.ofSeconds(4)).untilAsserted(lock::ensureHeld);
					assertThat(server.entries("a")).isOne();
				}
				assertThat(server.entries("a")).isZero();
				assertThat(
						context.getBean("distributedLocksHealthIndicator", HealthIndicator.class).health().getStatus())
					.isEqualTo(Status.UP);
			});
			refused(application);
			refused(user(application, "wrong"));
			refused(user(application, PASSWORD).withPropertyValues("distributed-lock.key-prefix=elsewhere:"));
		}
	}

	private static ApplicationContextRunner user(ApplicationContextRunner application, String password) {
		return application.withPropertyValues("distributed-lock.etcd.username=shop",
				"distributed-lock.etcd.password=" + password);
	}

	private static void refused(ApplicationContextRunner application) {
		application.run((context) -> assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> context.getBean(LockTemplate.class).acquire(LockRequest.of("a")))
			.withStackTraceContaining("Check distributed-lock.etcd.username and password, and the role of the user")
			.matches(LockUnavailableException::isPermanent)
			.satisfies((ex) -> assertThat(ex).hasStackTraceContaining("etcd"))
			.satisfies((ex) -> assertThat(traceOf(ex)).doesNotContain(PASSWORD, "wrong")));
	}

	private static String traceOf(Throwable ex) {
		StringBuilder trace = new StringBuilder();
		for (Throwable each = ex; each != null; each = each.getCause()) {
			trace.append(each).append('\n');
		}
		return trace.toString();
	}

	@Test
	@RequiresEtcd
	@Tag("etcd-tls")
	void bundleMakesTheServerTrusted(@TempDir Path directory) {
		TestCertificate certificate = TestCertificate.make(directory);
		try (EtcdProcess server = EtcdProcess.withTls(certificate.certificate(), certificate.privateKey())) {
			ApplicationContextRunner application = on(server.tlsAddress()).withPropertyValues(
					"spring.ssl.bundle.jks.locks.truststore.location=file:" + certificate.store(),
					"spring.ssl.bundle.jks.locks.truststore.password=" + TestCertificate.PASSWORD,
					"spring.ssl.bundle.jks.locks.truststore.type=PKCS12");
			application.withPropertyValues("distributed-lock.etcd.ssl.bundle=locks").run((context) -> {
				try (HeldLock lock = context.getBean(LockTemplate.class).acquire(LockRequest.of("a"))) {
					((KeyedLock) lock).verify();
					assertThat(server.entries("a")).isOne();
				}
			});
			application.run((context) -> assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> context.getBean(LockTemplate.class).acquire(REQUEST))
				.withStackTraceContaining("PKIX path building failed"));
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "missing", "" })
	void bundleThatIsNotThereStopsTheStart(String name) {
		ApplicationContextRunner application = name.isEmpty()
				? Applications.withoutRedis().withPropertyValues("distributed-lock.store=etcd") : this.runner;
		FailureAnalysis failure = StartupFailures.of(application.withUserConfiguration(LockedService.class)
			.withPropertyValues("distributed-lock.etcd.endpoints=https://localhost:1",
					"distributed-lock.etcd.ssl.bundle=missing"));
		assertThat(failure.getDescription()).contains("'missing'", "'distributed-lock.etcd.ssl.bundle'",
				"There is no SSL bundle of this name", "spring.ssl.bundle");
	}

	@Test
	void serverThatIsNotThereDoesNotStopTheStartAndItsHealthIsDown() {
		on("http://127.0.0.1:1").withUserConfiguration(LockedService.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> context.getBean(LockTemplate.class).acquire(REQUEST));
			Health health = context.getBean("distributedLocksHealthIndicator", HealthIndicator.class).health();
			assertThat(health.getStatus()).isEqualTo(Status.DOWN);
			assertThat(health.getDetails().get("servers")).asString().contains("etcd=", "127.0.0.1:1");
		});
	}

	static class Brief {

		@DistributedLock(key = "'a'", ttl = "1s")
		void run() {
		}

	}

}
