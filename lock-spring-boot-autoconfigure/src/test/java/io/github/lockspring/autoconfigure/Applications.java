package io.github.lockspring.autoconfigure;

import java.util.List;
import java.util.stream.StreamSupport;

import io.github.lockspring.testsupport.redis.RedisServer;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.context.annotation.Configurations;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.util.ClassUtils;

/**
 * Small applications with all registered auto-configurations of locks.
 */
public final class Applications {

	/**
	 * More patient than the defaults, so that a test does not fail where a server or this
	 * machine is slow.
	 */
	private static final String[] PATIENT = { "distributed-lock.wait-time=1m", "distributed-lock.command-timeout=20s" };

	private Applications() {
	}

	/** With Spring Boot's auto-configurations of AOP and Redis. */
	public static ApplicationContextRunner withRedis() {
		return withoutRedis().withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class));
	}

	/** As {@link #withRedis()}, on the server that tests share. */
	public static ApplicationContextRunner onSharedServer() {
		RedisServer server = RedisServer.shared();
		return withRedis().withPropertyValues("spring.data.redis.host=" + server.host(),
				"spring.data.redis.port=" + server.port());
	}

	/** As {@link #withoutRedis()}, with the locks in memory. */
	public static ApplicationContextRunner inMemory() {
		return withoutRedis().withPropertyValues("distributed-lock.store=memory");
	}

	/**
	 * With Spring Boot's auto-configuration of AOP only. The class path of these tests
	 * has the modules of all stores, therefore a property chooses Redis, which the only
	 * module would do otherwise.
	 */
	public static ApplicationContextRunner withoutRedis() {
		return new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class))
			.withConfiguration(AutoConfigurations.of(registered()))
			.withPropertyValues(PATIENT)
			.withPropertyValues("distributed-lock.store=redis");
	}

	/**
	 * All auto-configurations of {@link #withRedis()}, in the order in which Spring Boot
	 * takes them.
	 */
	public static Class<?>[] autoConfigurations() {
		return Configurations.getClasses(
				AutoConfigurations.of(AopAutoConfiguration.class, DataRedisAutoConfiguration.class),
				AutoConfigurations.of(registered()));
	}

	public static Class<?>[] registered() {
		String room = ClassUtils.getPackageName(LockAutoConfiguration.class);
		List<String> names = StreamSupport
			.stream(ImportCandidates.load(AutoConfiguration.class, Applications.class.getClassLoader()).spliterator(),
					false)
			.filter((name) -> name.startsWith(room))
			.toList();
		return names.stream()
			.map((name) -> ClassUtils.resolveClassName(name, Applications.class.getClassLoader()))
			.toArray(Class<?>[]::new);
	}

}
