package io.github.lockspring.autoconfigure;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
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
import org.assertj.core.util.Throwables;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The store in etcd in an application.
 */
class EtcdLockStoreAutoConfigurationTests {

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
			assertThat(server.entries("a/b")).isZero();
		});
		await().atMost(Duration.ofSeconds(5)).until(() -> server.leases() == 0);
	}

	@Test
	@RequiresEtcd
	@Tag("etcd-client-bean")
	void clientOfTheApplicationIsUsedAndNotClosed() {
		EtcdProcess server = EtcdProcess.shared();
		try (Client client = Client.builder().endpoints(server.address()).build()) {
			on("http://localhost:1").withBean(Client.class, () -> client).run((context) -> {
				try (HeldLock lock = context.getBean(LockTemplate.class).acquire(LockRequest.of("a"))) {
					assertThat(lock.isHeld()).isTrue();
					assertThat(server.entries("a")).isOne();
				}
				context.getBean(EtcdLockStore.class).close();
				assertThat(client.getKVClient().get(ByteSequence.from("any", StandardCharsets.UTF_8)).get().getKvs())
					.isEmpty();
			});
		}
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
			.satisfies((ex) -> assertThat(Throwables.getStackTrace(ex)).doesNotContain(PASSWORD, "wrong")));
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

	@Test
	void bundleThatCannotBeUsedIsNamed() {
		FailureAnalysis failure = StartupFailures
			.of(on("https://localhost:1").withUserConfiguration(LockedService.class)
				.withPropertyValues("distributed-lock.etcd.ssl.bundle=locks",
						"spring.ssl.bundle.jks.locks.options.ciphers=none-of-these"));
		assertThat(failure.getDescription()).contains("Invalid value 'locks'", "'distributed-lock.etcd.ssl.bundle'",
				"It cannot be used: failed to set cipher suite: [none-of-these]", "Check the options of the bundle");
	}

	@Test
	void certificatesOfTheJvmThatCannotBeReadAreNoBundle(@TempDir Path directory) throws IOException {
		Path store = Files.writeString(directory.resolve("truststore"), "no certificates");
		FailureAnalysis failure = StartupFailures
			.of(on("https://localhost:1").withUserConfiguration(LockedService.class)
				.withSystemProperties("javax.net.ssl.trustStore=" + store));
		assertThat(failure.getDescription()).contains("TLS with etcd is not possible", "trust store of the JVM")
			.doesNotContain("null");
		assertThat(failure.getAction()).contains("javax.net.ssl.trustStore", "distributed-lock.etcd.ssl.bundle")
			.endsWith(".");
	}

}
