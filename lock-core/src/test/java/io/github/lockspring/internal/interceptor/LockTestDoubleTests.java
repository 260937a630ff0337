package io.github.lockspring.internal.interceptor;

import java.util.List;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.LockTemplate;
import org.junit.jupiter.api.Test;
import org.mockito.BDDMockito;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.EnableAspectJAutoProxy;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.context.bean.override.mockito.MockitoSpyBean;
import org.springframework.test.context.junit.jupiter.SpringJUnitConfig;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * An application's tests replace annotated beans: the checks let mocks pass, and spies
 * are still locked.
 */
@SpringJUnitConfig
class LockTestDoubleTests {

	@MockitoBean
	private Mocked mocked;

	@MockitoSpyBean
	private Spied spied;

	@Autowired
	private RecordingLocks locks;

	@Test
	void mockOfAnnotatedBeanIsNotLocked() {
		BDDMockito.given(this.mocked.run("42")).willReturn("mocked");
		assertThat(this.mocked.run("42")).isEqualTo("mocked");
	}

	@Test
	void spyOfAnnotatedBeanIsLocked() {
		assertThat(this.spied.run("43")).isEqualTo("43");
		assertThat(this.locks.lastKeys()).isEqualTo(List.of("43"));
		BDDMockito.then(this.spied).should().run("43");
	}

	@Test
	void mockOfTheTemplateThatRunsNothingIsReported() {
		LockTemplate mock = BDDMockito.mock(LockTemplate.class);
		try (AnnotationConfigApplicationContext context = LockContexts.start((beans) -> {
			beans.register(Spied.class);
			beans.registerBean("mock", LockTemplate.class, () -> mock, (definition) -> definition.setPrimary(true));
		})) {
			assertThatIllegalStateException().isThrownBy(() -> context.getBean(Spied.class).run("44"))
				.withMessageStartingWith(Spied.class.getTypeName()
						+ ".run(String) was not run, although the LockTemplate (io.github.lockspring.LockTemplate$Mock")
				.withMessageContaining("distributed-lock.store=memory");
		}
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAspectJAutoProxy(proxyTargetClass = true)
	@Import({ LockContexts.LockConfiguration.class, Mocked.class, Spied.class })
	static class TestConfiguration {

	}

	static class Mocked {

		@DistributedLock(key = "#id")
		public String run(String id) {
			return id;
		}

	}

	static class Spied {

		@DistributedLock(key = "#id")
		public String run(String id) {
			return id;
		}

	}

}
