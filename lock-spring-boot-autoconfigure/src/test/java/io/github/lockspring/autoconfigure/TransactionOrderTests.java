package io.github.lockspring.autoconfigure;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.autoconfigure.OrderedApplication.Trace;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.event.TransactionalEventListener;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A lock of one bean inside the transaction of another one, in an application of Spring
 * Boot's: it is kept until the transaction is complete.
 */
class TransactionOrderTests {

	private static final LockRequest A = LockRequest.of("a");

	private final ApplicationContextRunner application = OrderedApplication.with(Outer.class, Inner.class);

	@Test
	void f25LockInsideATransactionOutlivesItsCallAndIsReleasedAfterTheCommit() {
		assertSteps((beans) -> beans.outer().required(beans.inner()::locked), "begin required", "lock a", "work",
				"back in the transaction", "a is busy", "commit required", "release a");
	}

	@Test
	void f25LockOfASuspendedTransactionIsEnteredAgainAndKept() {
		assertSteps((beans) -> beans.outer().required(() -> {
			beans.inner().locked();
			beans.outer().notSupported(beans.inner()::locked);
		}), "begin required", "lock a", "work", "work", "back without a transaction", "a is busy",
				"back in the transaction", "a is busy", "commit required", "release a");
	}

	@Test
	void f25LockOfAMethodThatSuspendsItsCallersTransactionBelongsToThat() {
		assertSteps((beans) -> beans.outer().required(beans.inner()::lockedAndSuspending), "begin required", "lock a",
				"work", "back in the transaction", "a is busy", "commit required", "release a");
	}

	@Test
	void f25ListenerAfterTheCommitFindsTheLockFreeAndReleasesItsOwn() {
		OrderedApplication.with(Outer.class, Inner.class, AfterCommit.class).run((context) -> {
			Beans beans = Beans.of(context);
			beans.outer().required(() -> {
				beans.inner().locked();
				context.publishEvent(new Done());
			});
			assertThat(context.getBean(Trace.class).steps()).containsExactly("begin required", "lock a", "work",
					"back in the transaction", "a is busy", "commit required", "release a", "lock a",
					"begin afterCommit", "listener", "commit afterCommit", "release a");
			beans.inner().locked();
		});
	}

	@Test
	void f25NoOtherHolderReadsWhatATransactionHasNotCommittedYet() {
		this.application.withPropertyValues("distributed-lock.wait-time=1m").run((context) -> {
			JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
			jdbc.execute("CREATE TABLE counter (number INT)");
			jdbc.update("INSERT INTO counter VALUES (0)");
			Beans beans = Beans.of(context);
			List<CompletableFuture<Void>> threads = IntStream.range(0, 8)
				.mapToObj((i) -> CompletableFuture.runAsync(() -> {
					for (int j = 0; j < 10; j++) {
						beans.outer().slowly(() -> beans.inner().increment(jdbc));
					}
				}, (work) -> new Thread(work).start()))
				.toList();
			threads.forEach(CompletableFuture::join);
			assertThat(read(jdbc)).isEqualTo(80);
		});
	}

	private static int read(JdbcTemplate jdbc) {
		Integer number = jdbc.queryForObject("SELECT number FROM counter", Integer.class);
		return (number != null) ? number : -1;
	}

	private void assertSteps(Consumer<Beans> work, String... steps) {
		this.application.run((context) -> {
			Beans beans = Beans.of(context);
			work.accept(beans);
			assertThat(context.getBean(Trace.class).steps()).containsExactly(steps);
			// nothing is left: not in the store, and not with this thread
			context.getBean(Trace.class).noteWhetherBusy(beans.locks(), "a");
			assertThat(context.getBean(Trace.class).steps()).contains("a is free");
		});
	}

	record Beans(Outer outer, Inner inner, LockTemplate locks) {

		static Beans of(ConfigurableApplicationContext context) {
			return new Beans(context.getBean(Outer.class), context.getBean(Inner.class),
					context.getBean(LockTemplate.class));
		}

	}

	static class Outer {

		private final Trace trace;

		private final LockTemplate locks;

		Outer(Trace trace, LockTemplate locks) {
			this.trace = trace;
			this.locks = locks;
		}

		@Transactional
		public void required(Runnable work) {
			work.run();
			look("back in the transaction");
		}

		@Transactional(propagation = Propagation.NOT_SUPPORTED)
		public void notSupported(Runnable work) {
			work.run();
			look("back without a transaction");
		}

		@Transactional
		public void slowly(Runnable work) {
			work.run();
			// time for others to come in between
			LockSupport.parkNanos(1_000_000);
		}

		private void look(String where) {
			this.trace.note(where);
			this.trace.noteWhetherBusy(this.locks, "a");
		}

	}

	static class Inner {

		private final Trace trace;

		Inner(Trace trace) {
			this.trace = trace;
		}

		@DistributedLock(key = "'a'")
		public void locked() {
			this.trace.note("work");
		}

		@Transactional(propagation = Propagation.NOT_SUPPORTED)
		@DistributedLock(key = "'a'")
		public void lockedAndSuspending() {
			this.trace.note("work");
		}

		@DistributedLock(key = "'counter'")
		public void increment(JdbcTemplate jdbc) {
			jdbc.update("UPDATE counter SET number = ?", read(jdbc) + 1);
		}

	}

	static class AfterCommit {

		private final Trace trace;

		AfterCommit(Trace trace) {
			this.trace = trace;
		}

		@TransactionalEventListener
		@Transactional(propagation = Propagation.REQUIRES_NEW)
		@DistributedLock(key = "'a'")
		public void afterCommit(Done done) {
			this.trace.note("listener");
		}

	}

	record Done() {
	}

}
