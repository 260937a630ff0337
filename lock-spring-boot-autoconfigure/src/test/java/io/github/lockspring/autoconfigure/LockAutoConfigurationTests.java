package io.github.lockspring.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.internal.engine.EngineSettings;
import io.github.lockspring.internal.engine.LockEngine;
import io.github.lockspring.internal.engine.support.LockEvents;
import io.github.lockspring.store.memory.MemoryLockStore;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.core.annotation.Order;

import static org.assertj.core.api.Assertions.assertThat;

class LockAutoConfigurationTests {

	private final ApplicationContextRunner runner = Applications.inMemory();

	@Test
	void programsGetATemplate() {
		this.runner.run((context) -> {
			assertThat(context).hasSingleBean(LockTemplate.class);
			String done = context.getBean(LockTemplate.class).execute(LockRequest.of("key"), (lock) -> "done");
			assertThat(done).isEqualTo("done");
		});
	}

	@Test
	void engineIsNotCreatedBeforeItsFirstUse() {
		this.runner.run((context) -> {
			assertThat(context.getBeanFactory().containsSingleton("lockspringLockEngine")).isFalse();
			context.getBean(LockTemplate.class);
			assertThat(context.getBeanFactory().containsSingleton("lockspringLockEngine")).isTrue();
		});
	}

	@Test
	void backsOffWhenUserDefinesTemplate() {
		this.runner.withUserConfiguration(OwnTemplateConfiguration.class, LockedService.class).run((context) -> {
			assertThat(context).hasSingleBean(LockTemplate.class).hasBean("ownTemplate");
			assertThat(context.getBean(LockedService.class).work()).isTrue();
			assertThat(context.getBeanFactory().containsSingleton("lockspringLockEngine")).isFalse();
		});
	}

	@Test
	void leaseHasTheLengthOfTheProperty() {
		this.runner.withPropertyValues("distributed-lock.ttl=90s").run((context) -> {
			try (HeldLock lock = context.getBean(LockTemplate.class).acquire(LockRequest.of("key"))) {
				assertThat(lock.remaining()).isBetween(Duration.ofSeconds(31), Duration.ofSeconds(90));
			}
		});
	}

	@Test
	void eventsReachTheApplicationsListenersByTheirKind() {
		this.runner.withUserConfiguration(ListenerConfiguration.class).run((context) -> {
			context.getBean(LockTemplate.class).executeWithoutResult(LockRequest.of("key"), (lock) -> {
			});
			List<String> heard = context.getBean(ListenerConfiguration.class).heard;
			Awaitility.await().untilAsserted(() -> assertThat(heard).containsExactly("any key", "acquired", "any key"));
		});
	}

	@Test
	void listenerThatFailsChangesNothing() {
		this.runner.withUserConfiguration(FailingListenerConfiguration.class, ListenerConfiguration.class)
			.run((context) -> {
				String done = context.getBean(LockTemplate.class).execute(LockRequest.of("key"), (lock) -> "done");
				assertThat(done).isEqualTo("done");
				assertThat(context.getBean(ListenerConfiguration.class).heard).containsExactly("any key", "acquired",
						"any key");
			});
	}

	@Configuration(proxyBeanMethods = false)
	static class OwnTemplateConfiguration {

		@Bean
		LockTemplate ownTemplate() {
			return new LockEngine(new MemoryLockStore(), EngineSettings.defaults(), LockEvents.NOBODY).template();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ListenerConfiguration {

		final List<String> heard = new CopyOnWriteArrayList<>();

		@EventListener
		@Order(1)
		void on(LockEvent event) {
			this.heard.add("any " + event.key());
		}

		@EventListener
		@Order(2)
		void on(LockEvent.Acquired event) {
			this.heard.add((event.fencingToken() > 0) ? "acquired" : "without a token");
		}

		@EventListener
		void on(LockEvent.NotAcquired event) {
			this.heard.add("never");
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class FailingListenerConfiguration {

		@EventListener
		@Order(3)
		void on(LockEvent event) {
			throw new IllegalStateException("listener");
		}

	}

}
