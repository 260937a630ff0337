package io.github.lockspring.test;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.Fenced;
import io.github.lockspring.LockDefinitionException;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.memory.MemoryLockStore;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.mockito.Mockito;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.TestContextManager;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * The kit in a slice, switched off, beside a mock, and where nobody has asked for it.
 */
class SliceTests {

	@Nested
	@WebMvcTest(TestApplication.Pages.class)
	@AutoConfigureDistributedLocks
	class InASlice {

		@Autowired
		private MockMvcTester mvc;

		@Autowired
		private LockTester locks;

		@Autowired
		private ApplicationContext context;

		@Test
		void methodIsLockedInMemory() {
			assertThat(this.mvc.post().uri("/pages/7")).hasStatusOk().bodyText().isEqualTo("written 7");
			this.locks.assertTaken("page:7");
			assertThat(this.context.getBean(LockStore.class)).isInstanceOf(MemoryLockStore.class);
		}

		@Test
		void busyIsAConflict() {
			this.locks.makeBusy("page:7");
			assertThat(this.mvc.post().uri("/pages/7")).hasStatus(409);
		}

	}

	@Test
	void fencedMethodIsRefusedInASliceWithoutADatabase() {
		assertThatIllegalStateException()
			.isThrownBy(() -> new TestContextManager(FencedInASlice.class).getTestContext().getApplicationContext())
			.havingRootCause()
			.isInstanceOf(LockDefinitionException.class)
			.withMessageContaining("there is no FencingGuard bean");
	}

	@WebMvcTest(TestApplication.Pages.class)
	@AutoConfigureDistributedLocks
	@Import(Stock.class)
	static class FencedInASlice {

	}

	static class Stock {

		@Fenced
		@DistributedLock(key = "#seat")
		public void sell(String seat) {
		}

	}

	@Nested
	@WebMvcTest(TestApplication.Pages.class)
	@AutoConfigureDistributedLocks(enabled = false)
	class SwitchedOff {

		@Autowired
		private MockMvcTester mvc;

		@Autowired
		private LockTester locks;

		@Test
		void methodRunsWithoutItsLock() {
			this.locks.makeBusy("page:7");
			assertThat(this.mvc.post().uri("/pages/7")).hasStatusOk();
			this.locks.assertNotTaken("page:7");
		}

	}

	@Nested
	@SpringBootTest
	@AutoConfigureDistributedLocks
	class BesideAMock {

		@MockitoBean
		private LockTemplate template;

		@Autowired
		private LockTester locks;

		@Autowired
		private TestApplication.Jobs jobs;

		@Test
		void mockStaysAMock() {
			Mockito.when(this.template.tryAcquire(Mockito.any())).thenReturn(java.util.Optional.empty());
			assertThat(this.jobs.run("job")).isFalse();
			Mockito.verify(this.template).tryAcquire(Mockito.any());
			this.locks.assertNotTaken("job");
		}

	}

	@Nested
	@SpringBootTest(properties = "distributed-lock.store=memory")
	class NotAskedFor {

		@Autowired
		private ApplicationContext context;

		@Test
		void locksAreThoseOfTheApplication() {
			assertThat(this.context.getBean(LockTemplate.class)).isNotInstanceOf(TestedLockTemplate.class);
			assertThat(this.context.getBeansOfType(LockTester.class)).isEmpty();
		}

	}

	@Nested
	@SpringBootTest(properties = "distributed-lock.store=redis")
	@AutoConfigureDistributedLocks
	class InsteadOfAnotherStore {

		@Autowired
		private ApplicationContext context;

		@Test
		void locksAreInMemory() {
			assertThat(this.context.getBean(LockStore.class)).isInstanceOf(MemoryLockStore.class);
		}

	}

	@Test
	void testThatHasNoTesterIsToldWhy() {
		assertThatIllegalStateException()
			.isThrownBy(() -> new TestContextManager(WithoutAnnotation.class).beforeTestClass())
			.withMessage("There is no LockTester for the field 'locks' of " + WithoutAnnotation.class.getName()
					+ ". Add @AutoConfigureDistributedLocks to the test");
	}

	@SpringBootTest
	static class WithoutAnnotation {

		@Autowired
		private LockTester locks;

	}

}
