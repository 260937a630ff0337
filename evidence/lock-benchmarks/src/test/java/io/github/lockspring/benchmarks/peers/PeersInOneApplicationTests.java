package io.github.lockspring.benchmarks.peers;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.locks.Lock;
import java.util.function.Consumer;

import com.baomidou.lock.LockInfo;
import com.baomidou.lock.annotation.Lock4j;
import io.github.lockspring.DistributedLock;
import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.OnBusy;
import io.github.lockspring.testsupport.redis.RedisServer;
import net.javacrumbs.shedlock.core.LockAssert;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.spring.data.connection.RedissonConnectionFactory;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.config.EnableIntegration;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.scheduling.annotation.EnableScheduling;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application that has other libraries for locks too, as during a migration: it
 * starts, and each library's locks work. All auto-configurations on the class path are
 * active, as in an application that names none.
 */
@ExtendWith(OutputCaptureExtension.class)
class PeersInOneApplicationTests {

	private static final List<String> REDISSON = List.of("org.redisson.spring.starter.RedissonAutoConfigurationV2",
			"org.redisson.spring.starter.RedissonAutoConfigurationV4");

	@Test
	@Tag("peers-together")
	void allPeersOnLettuce(CapturedOutput output) {
		run((application) -> {
			assertThat(application.getBean(RedisConnectionFactory.class)).isInstanceOf(LettuceConnectionFactory.class);
			assertLocksWork(application);
			assertPeersLocksWork(application);
		}, "spring.autoconfigure.exclude=" + String.join(",", REDISSON));
		assertThat(output.getAll().lines().filter((line) -> line.contains("is not eligible for getting processed")))
			.noneMatch((line) -> line.contains("lockspring"));
	}

	@Test
	void allPeersOnRedissonsConnections() {
		run((application) -> {
			assertThat(application.getBean(RedisConnectionFactory.class)).isInstanceOf(RedissonConnectionFactory.class);
			assertLocksWork(application);
			assertPeersLocksWork(application);
			RLock lock = application.getBean(RedissonClient.class).getLock(UUID.randomUUID().toString());
			lock.lock();
			assertThat(lock.isHeldByCurrentThread()).isTrue();
			lock.unlock();
		});
	}

	@Test
	@Tag("two-annotations")
	void methodWithTwoAnnotationsHasBothLocks() {
		run((application) -> {
			Jobs jobs = application.getBean(Jobs.class);
			assertThat(jobs.withLock4jAndLockspring(UUID.randomUUID().toString())).isTrue();
			assertThat(jobs.withShedLockAndLockspring()).isEqualTo("done");
			LockProvider provider = application.getBean(LockProvider.class);
			SimpleLock old = provider
				.lock(new LockConfiguration(Instant.now(), "switch", Duration.ofSeconds(30), Duration.ZERO))
				.orElseThrow();
			assertThat(jobs.withShedLockAndLockspring()).isNull();
			old.unlock();
			try (HeldLock other = application.getBean(LockTemplate.class).acquire(LockRequest.of("job:switch"))) {
				assertThat(jobs.withShedLockAndLockspring()).isNull();
			}
			assertThat(jobs.withShedLockAndLockspring()).isEqualTo("done");
		}, "spring.autoconfigure.exclude=" + String.join(",", REDISSON));
	}

	private static void assertLocksWork(ConfigurableApplicationContext application) {
		String key = UUID.randomUUID().toString();
		LockTemplate locks = application.getBean(LockTemplate.class);
		try (HeldLock lock = locks.acquire(LockRequest.of(key))) {
			assertThat(lock.isHeld()).isTrue();
			assertThat(RedisServer.shared().exists("lock:" + key)).isTrue();
			assertThat(locks.tryAcquire(LockRequest.of(key).waitTime(Duration.ZERO))).isEmpty();
		}
		assertThat(RedisServer.shared().exists("lock:" + key)).isFalse();
		assertThat(application.getBean(Jobs.class).withLockspring(key)).isTrue();
	}

	private static void assertPeersLocksWork(ConfigurableApplicationContext application) {
		String key = UUID.randomUUID().toString();
		com.baomidou.lock.LockTemplate lock4j = application.getBean(com.baomidou.lock.LockTemplate.class);
		LockInfo lock = lock4j.lock(key, 30_000, 60_000);
		assertThat(lock).isNotNull();
		assertThat(lock4j.lock(key, 30_000, 0)).isNull();
		assertThat(lock4j.releaseLock(lock)).isTrue();
		assertThat(application.getBean(Jobs.class).withLock4j(key)).isTrue();

		Lock registryLock = application.getBean(RedisLockRegistry.class).obtain(key);
		assertThat(registryLock.tryLock()).isTrue();
		registryLock.unlock();

		SimpleLock shedLock = application.getBean(LockProvider.class)
			.lock(new LockConfiguration(Instant.now(), key, Duration.ofSeconds(30), Duration.ZERO))
			.orElseThrow();
		shedLock.unlock();
		application.getBean(Jobs.class).withShedLock();
	}

	private static void run(Consumer<ConfigurableApplicationContext> test, String... properties) {
		RedisServer server = RedisServer.shared();
		try (ConfigurableApplicationContext application = new SpringApplicationBuilder(Application.class)
			.web(WebApplicationType.NONE)
			.properties("spring.main.banner-mode=off", "spring.data.redis.host=" + server.host(),
					"spring.data.redis.port=" + server.port(), "distributed-lock.store=redis",
					"distributed-lock.wait-time=1m", "distributed-lock.command-timeout=20s")
			.properties(properties)
			.run()) {
			test.accept(application);
		}
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableIntegration
	@EnableScheduling
	@EnableSchedulerLock(defaultLockAtMostFor = "30s")
	static class Application {

		@Bean
		Jobs jobs() {
			return new Jobs();
		}

		@Bean
		LockRegistry<?> lockRegistry(RedisConnectionFactory connectionFactory) {
			return new RedisLockRegistry(connectionFactory, "registry");
		}

		@Bean
		LockProvider lockProvider(RedisConnectionFactory connectionFactory) {
			return new RedisLockProvider(connectionFactory);
		}

	}

	static class Jobs {

		@DistributedLock(key = "#key")
		public boolean withLockspring(String key) {
			return RedisServer.shared().exists("lock:" + key) && HeldLock.current(key).isPresent();
		}

		@Lock4j(keys = "#key")
		public boolean withLock4j(String key) {
			return RedisServer.shared().keys().stream().anyMatch((name) -> name.startsWith("lock4j:"));
		}

		@Lock4j(keys = "#key")
		@DistributedLock(key = "#key")
		public boolean withLock4jAndLockspring(String key) {
			return withLock4j(key) && withLockspring(key);
		}

		@SchedulerLock(name = "switch")
		@DistributedLock(name = "job", key = "'switch'", onBusy = OnBusy.SKIP)
		public @Nullable String withShedLockAndLockspring() {
			LockAssert.assertLocked();
			return HeldLock.current("job:switch").isPresent() ? "done" : "without a lock";
		}

		@SchedulerLock(name = "job")
		public void withShedLock() {
			LockAssert.assertLocked();
		}

	}

}
