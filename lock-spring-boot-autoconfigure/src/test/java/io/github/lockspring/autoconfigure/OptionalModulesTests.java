package io.github.lockspring.autoconfigure;

import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
	@CsvSource({ "lock-redis lock-redlock, io.github.lockspring.redis.RedisLockStore",
			"lock-redlock, io.github.lockspring.redis.redlock.RedlockLockStore",
			"lock-jdbc, io.github.lockspring.jdbc.JdbcLockStore",
			"lock-zookeeper curator-framework zookeeper, org.apache.curator.framework.CuratorFramework",
			"lock-etcd jetcd-core, io.etcd.jetcd.Client",
			"micrometer-core spring-boot-micrometer-metrics spring-boot-micrometer-observation micrometer-tracing,"
					+ "io.micrometer.core.instrument.Meter",
			"spring-boot-actuator-autoconfigure spring-boot-actuator spring-boot-health,"
					+ "org.springframework.boot.health.contributor.Health",
			"lock-redis lock-redlock spring-data-redis spring-boot-data-redis lettuce-core jedis lock-jdbc spring-jdbc"
					+ " spring-boot-jdbc, org.springframework.jdbc.core.JdbcTemplate" })
	void locksInMemoryNeedNone(String missing, String itsClass) throws Exception {
		List<String> modules = List.of(missing.split(" "));
		List<URL> present = new ArrayList<>();
		for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
			Path path = Path.of(entry);
			if (Stream.concat(modules.stream(), JPA.stream()).noneMatch((module) -> belongsTo(module, path))) {
				present.add(path.toUri().toURL());
			}
		}
		Thread thread = Thread.currentThread();
		ClassLoader original = thread.getContextClassLoader();
		try (URLClassLoader isolated = new URLClassLoader(present.toArray(URL[]::new),
				ClassLoader.getPlatformClassLoader())) {
			thread.setContextClassLoader(isolated);
			assertThat(ClassUtils.isPresent(itsClass, isolated)).isFalse();
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
