package io.github.lockspring.autoconfigure;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.testsupport.etcd.EtcdProcess;
import io.github.lockspring.testsupport.etcd.RequiresEtcd;
import org.junit.jupiter.api.Test;

import org.springframework.aot.AotDetector;
import org.springframework.aot.test.generate.TestGenerationContext;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.SpringProperties;
import org.springframework.core.test.tools.CompileWithForkedClassLoader;
import org.springframework.core.test.tools.TestCompiler;
import org.springframework.javapoet.ClassName;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The store in etcd in an application that was processed ahead of time, without a server,
 * and runs on a usual JVM. The class loader of each test has what AOT has switched on.
 */
@RequiresEtcd
class EtcdAotTests {

	@Test
	@CompileWithForkedClassLoader
	void propertiesAreReadAtRunTimeAndTheLockIsInEtcd() {
		try (EtcdProcess server = EtcdProcess.alone()) {
			TestCompiler.forSystem().with(processed()).compile((compiled) -> {
				SpringProperties.setProperty(AotDetector.AOT_ENABLED, "true");
				try (GenericApplicationContext application = started(
						compiled.getInstance(ApplicationContextInitializer.class), server)) {
					assertThat(application.getBean(Counter.class).entries(server)).isOne();
					assertThat(server.entries("aot")).isZero();
				}
			});
		}
	}

	private static TestGenerationContext processed() {
		AnnotationConfigApplicationContext application = new AnnotationConfigApplicationContext();
		TestPropertyValues.of("distributed-lock.store=etcd").applyTo(application);
		application.register(Applications.registered());
		application.register(AopAutoConfiguration.class, Counter.class);
		TestGenerationContext generated = new TestGenerationContext(ClassName.get(EtcdAotTests.class));
		new ApplicationContextAotGenerator().processAheadOfTime(application, generated);
		generated.writeGeneratedContent();
		return generated;
	}

	@SuppressWarnings("unchecked")
	private static GenericApplicationContext started(ApplicationContextInitializer<?> initializer, EtcdProcess server) {
		GenericApplicationContext application = new GenericApplicationContext();
		// the first requests of a client that nothing has used yet, on a busy machine
		TestPropertyValues
			.of("distributed-lock.etcd.endpoints=" + server.address(), "distributed-lock.store=etcd",
					"distributed-lock.command-timeout=30s")
			.applyTo(application);
		((ApplicationContextInitializer<GenericApplicationContext>) initializer).initialize(application);
		application.refresh();
		return application;
	}

	static class Counter {

		@DistributedLock(key = "'aot'", ttl = "2m")
		int entries(EtcdProcess server) {
			return server.entries("aot");
		}

	}

}
