package io.github.lockspring.autoconfigure;

import java.io.File;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Applications whose class path really has no module of a store, or not what it needs:
 * each runs in a class loader of its own.
 */
class OptionalModulesTests {

	/** Not needed, and slow to start. */
	private static final List<String> JPA = List.of("hibernate-core", "spring-boot-hibernate", "spring-boot-jpa",
			"spring-boot-data-jpa", "spring-data-jpa", "spring-orm");

	@ParameterizedTest
	@ValueSource(strings = { "lock-redis lock-redlock", "lock-redlock", "lock-jdbc",
			"lock-zookeeper curator-framework zookeeper", "lock-etcd jetcd-core",
			"micrometer-core spring-boot-micrometer-metrics spring-boot-micrometer-observation micrometer-tracing",
			"spring-boot-actuator-autoconfigure spring-boot-actuator spring-boot-health",
			"lock-redis lock-redlock spring-data-redis spring-boot-data-redis lettuce-core jedis lock-jdbc spring-jdbc spring-boot-jdbc" })
	void locksInMemoryNeedNone(String missing) throws Exception {
		List<String> modules = List.of(missing.split(" "));
		URL[] present = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
			.map(Path::of)
			.filter((entry) -> Stream.concat(modules.stream(), JPA.stream())
				.noneMatch((module) -> belongsTo(module, entry)))
			.map(OptionalModulesTests::url)
			.toArray(URL[]::new);
		Thread thread = Thread.currentThread();
		ClassLoader original = thread.getContextClassLoader();
		try (URLClassLoader isolated = new URLClassLoader(present, ClassLoader.getPlatformClassLoader())) {
			thread.setContextClassLoader(isolated);
			if (missing.contains("lock-redis")) {
				assertThat(ClassUtils.isPresent("io.github.lockspring.redis.RedisLockStore", isolated)).isFalse();
			}
			if (missing.contains("lock-redlock")) {
				assertThat(ClassUtils.isPresent("io.github.lockspring.redis.redlock.RedlockLockStore", isolated))
					.isFalse();
			}
			if (missing.contains("lock-zookeeper")) {
				assertThat(ClassUtils.isPresent("org.apache.curator.framework.CuratorFramework", isolated)).isFalse();
			}
			if (missing.contains("lock-etcd")) {
				assertThat(ClassUtils.isPresent("io.etcd.jetcd.Client", isolated)).isFalse();
			}
			if (missing.contains("lock-jdbc")) {
				assertThat(ClassUtils.isPresent("io.github.lockspring.jdbc.JdbcLockStore", isolated)).isFalse();
			}
			Object application = isolated.loadClass(Application.class.getName()).getDeclaredConstructor().newInstance();
			assertThat(((BooleanSupplier) application).getAsBoolean()).isTrue();
		}
		finally {
			thread.setContextClassLoader(original);
		}
	}

	/** The classes of a module in a reactor build, or its jar. */
	private static boolean belongsTo(String module, Path entry) {
		return StreamSupport.stream(entry.spliterator(), false)
			.map(Path::toString)
			.anyMatch((name) -> name.equals(module) || name.matches(module + "-\\d.*\\.jar"));
	}

	private static URL url(Path entry) {
		try {
			return entry.toUri().toURL();
		}
		catch (MalformedURLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	public static class Application implements BooleanSupplier {

		@Override
		public boolean getAsBoolean() {
			SpringApplication application = new SpringApplication(Application.class);
			application.setWebApplicationType(WebApplicationType.NONE);
			application.setRegisterShutdownHook(false);
			try (ConfigurableApplicationContext context = application.run("--distributed-lock.store=memory",
					"--spring.main.banner-mode=off")) {
				return context.getBean(LockedService.class).work();
			}
		}

		@Bean
		LockedService lockedService() {
			return new LockedService();
		}

	}

}
