package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.github.lockspring.HeldLock;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.OnLost;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Whatever blocks beside it, a shard, an appender or a listener, a lock is renewed.
 */
@Timeout(60)
class RenewalIsolationTests {

	/** Of locks that must not be lost: a machine may be busy for seconds. */
	private static final Duration LASTING = Duration.ofSeconds(4);

	private final FaultyStore store = new FaultyStore();

	private final List<LockEvent> events = new CopyOnWriteArrayList<>();

	private final LockEngine engine = new LockEngine(this.store, EngineThreadsTests.SETTINGS, this.events::add);

	@AfterEach
	void stop() {
		this.store.answerAgain();
		this.engine.close();
		this.store.close();
	}

	@Test
	void f07ShardThatHangsDelaysTheRenewalsAndReleasesOfNoOther() {
		HeldLock dead = this.engine.template().acquire(LockRequest.of("dead/order:42"));
		List<HeldLock> healthy = new ArrayList<>();
		for (int i = 0; i < 10; i++) {
			healthy.add(this.engine.template().acquire(LockRequest.of("healthy/order:" + i).ttl(LASTING)));
		}
		this.store.hangRenewals("dead/");
		await().atMost(Duration.ofSeconds(20)).until(() -> !dead.isHeld());
		int renewals = this.store.renewed.size();
		await().atMost(Duration.ofSeconds(20)).until(() -> this.store.renewed.size() > renewals + 3);
		assertThat(healthy).allMatch(HeldLock::isHeld);
		// somebody gives up waiting, which releases in the background
		assertThat(this.engine.template().tryAcquire(LockRequest.of("healthy/order:0").waitTime(Duration.ofMillis(50))))
			.isEmpty();
		healthy.forEach(HeldLock::close);
		assertThat(this.events)
			.noneMatch((event) -> event instanceof LockEvent.Lost lost && lost.key().startsWith("healthy/"));
		this.store.answerAgain();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(dead::close);
		await().until(this.engine.registry()::isEmpty);
	}

	private static void blockUntil(CountDownLatch released) {
		try {
			released.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	/** An appender that blocks whoever writes to it. */
	private static final class BlockingAppender extends AppenderBase<ILoggingEvent> {

		private final Logger logger = (Logger) LoggerFactory.getLogger("io.github.lockspring");

		private final CountDownLatch released = new CountDownLatch(1);

		final Set<String> threads = ConcurrentHashMap.newKeySet();

		BlockingAppender() {
			setContext(this.logger.getLoggerContext());
			start();
			this.logger.addAppender(this);
		}

		/** Not the one of the base class, which lets one thread in at a time. */
		@Override
		public void doAppend(ILoggingEvent event) {
			this.threads.add(Thread.currentThread().getName());
			blockUntil(this.released);
		}

		@Override
		protected void append(ILoggingEvent event) {
		}

		void release() {
			this.logger.detachAppender(this);
			this.released.countDown();
		}

	}

	private void assertRenewedMeanwhile(HeldLock lock, Runnable loss, Callable<Boolean> noticed) {
		loss.run();
		await().atMost(Duration.ofSeconds(20)).until(noticed);
		int renewals = this.store.renewed.size();
		await().atMost(Duration.ofSeconds(20)).until(() -> this.store.renewed.size() >= renewals + 3);
		assertThat(lock.isHeld()).isTrue();
	}

	@Test
	void appenderThatBlocksCostsNoOtherLockItsLease() {
		HeldLock other = this.engine.template().acquire(LockRequest.of("other").ttl(LASTING));
		HeldLock renewed = this.engine.template().acquire(LockRequest.of("lost"));
		HeldLock fixed = this.engine.template()
			.acquire(LockRequest.of("fixed").ttl(Duration.ofMillis(500)).renew(false));
		BlockingAppender appender = new BlockingAppender();
		try {
			// one is found by a thread that renews, the other one by the watchdog
			assertRenewedMeanwhile(other, () -> this.store.lose("lost"), () -> !appender.threads.isEmpty());
			await().atMost(Duration.ofSeconds(20)).until(() -> !fixed.isHeld() && !renewed.isHeld());
			assertRenewedMeanwhile(other, () -> {
			}, () -> true);
			assertThat(appender.threads).containsExactly("lockspring-events");
		}
		finally {
			appender.release();
		}
		await().atMost(Duration.ofSeconds(20))
			.until(() -> this.events.stream().filter(LockEvent.Lost.class::isInstance).count() == 2);
		other.close();
	}

	/** Whatever waits for the appender here waits for ever. */
	@Test
	void appenderThatBlocksWhenALockIsLostMakesNobodyWait() {
		HeldLock lost = this.engine.template().acquire(LockRequest.of("lost"));
		HeldLock contended = this.engine.template().acquire(LockRequest.of("contended").ttl(LASTING));
		CompletableFuture<Void> next = CompletableFuture.runAsync(
				() -> this.engine.template().acquire(LockRequest.of("contended").ttl(LASTING)).close(),
				(task) -> new Thread(task).start());
		BlockingAppender appender = new BlockingAppender();
		try {
			this.store.lose("lost");
			await().atMost(Duration.ofSeconds(20)).until(() -> !appender.threads.isEmpty());
			assertThat(lost.isHeld()).isFalse();
			assertThat(this.engine.template().tryAcquire(LockRequest.of("contended").waitTime(Duration.ofMillis(50))))
				.isEmpty();
			this.engine.template().acquire(LockRequest.of("free")).close();
			contended.close();
			next.join();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(lost::close);
			assertThat(appender.threads).containsExactly("lockspring-events");
		}
		finally {
			appender.release();
		}
	}

	@Test
	void listenerThatBlocksWhenALockIsLostCostsNoOtherLockItsLease() {
		CountDownLatch released = new CountDownLatch(1);
		CountDownLatch blocked = new CountDownLatch(1);
		try (LockEngine own = new LockEngine(this.store, EngineThreadsTests.SETTINGS, (event) -> {
			if (event instanceof LockEvent.Lost) {
				blocked.countDown();
				blockUntil(released);
			}
		})) {
			HeldLock other = own.template().acquire(LockRequest.of("other").ttl(LASTING));
			own.template().acquire(LockRequest.of("lost"));
			assertRenewedMeanwhile(other, () -> this.store.lose("lost"), () -> blocked.getCount() == 0);
			released.countDown();
			other.close();
		}
	}

	/** Its interrupt blocks, as that of a thread does whose file is on a dead server. */
	private static final class UninterruptibleWorker extends Thread {

		private final CountDownLatch interrupted = new CountDownLatch(1);

		private final CountDownLatch released = new CountDownLatch(1);

		UninterruptibleWorker(Runnable work) {
			super(work);
			setDaemon(true);
		}

		@Override
		public void interrupt() {
			this.interrupted.countDown();
			blockUntil(this.released);
		}

	}

	@Test
	void interruptThatBlocksCostsNoOtherLockItsLease() throws Exception {
		HeldLock other = this.engine.template().acquire(LockRequest.of("other").ttl(LASTING));
		CountDownLatch working = new CountDownLatch(1);
		CountDownLatch done = new CountDownLatch(1);
		UninterruptibleWorker worker = new UninterruptibleWorker(() -> {
			try {
				this.engine.template().executeWithoutResult(LockRequest.of("lost").onLost(OnLost.INTERRUPT), (lock) -> {
					working.countDown();
					done.await();
				});
			}
			catch (LockLostException ex) {
				// as expected
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		});
		worker.start();
		working.await();
		assertRenewedMeanwhile(other, () -> this.store.lose("lost"), () -> worker.interrupted.getCount() == 0);
		assertThat(this.engine.template().tryAcquire(LockRequest.of("lost").waitTime(Duration.ZERO)))
			.hasValueSatisfying(HeldLock::close);
		worker.released.countDown();
		done.countDown();
		worker.join();
		other.close();
	}

}
