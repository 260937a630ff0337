package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.UnsynchronizedAppenderBase;
import io.github.lockspring.HeldLock;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockRequest;
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

	private volatile Consumer<LockEvent> listener = this.events::add;

	private final LockEngine engine = new LockEngine(this.store, EngineThreadsTests.SETTINGS,
			(event) -> this.listener.accept(event));

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

	@Test
	void listenerThatBlocksWhenALockIsLostCostsNoOtherLockItsLease() {
		CompletableFuture<Void> released = new CompletableFuture<>();
		HeldLock other = this.engine.template().acquire(LockRequest.of("other").ttl(LASTING));
		this.engine.template().acquire(LockRequest.of("lost"));
		this.listener = (event) -> {
			this.events.add(event);
			released.join();
		};
		this.store.lose("lost");
		await().atMost(Duration.ofSeconds(20))
			.until(() -> this.events.stream().anyMatch(LockEvent.Lost.class::isInstance));
		int renewals = this.store.renewed.size();
		await().atMost(Duration.ofSeconds(20)).until(() -> this.store.renewed.size() >= renewals + 3);
		assertThat(other.isHeld()).isTrue();
		released.complete(null);
		other.close();
	}

	/** An appender that blocks its caller, as one does whose disk or server hangs. */
	private static final class BlockingAppender extends UnsynchronizedAppenderBase<ILoggingEvent>
			implements AutoCloseable {

		private final Logger logger = (Logger) LoggerFactory.getLogger("io.github.lockspring");

		private final CompletableFuture<Void> released = new CompletableFuture<>();

		final Set<String> threads = ConcurrentHashMap.newKeySet();

		BlockingAppender() {
			setContext(this.logger.getLoggerContext());
			start();
			this.logger.addAppender(this);
		}

		@Override
		protected void append(ILoggingEvent event) {
			this.threads.add(Thread.currentThread().getName());
			this.released.join();
		}

		@Override
		public void close() {
			this.logger.detachAppender(this);
			this.released.complete(null);
		}

	}

	/** What waits for the appender waits until the end of the test. */
	@Test
	void appenderThatBlocksForThreeSecondsCostsNoLockItsLeaseAndMakesNobodyWait() {
		HeldLock other = this.engine.template().acquire(LockRequest.of("other").ttl(LASTING));
		HeldLock renewed = this.engine.template().acquire(LockRequest.of("lost"));
		HeldLock fixed = this.engine.template()
			.acquire(LockRequest.of("fixed").ttl(Duration.ofMillis(500)).renew(false));
		HeldLock contended = this.engine.template().acquire(LockRequest.of("contended").ttl(LASTING));
		CompletableFuture<Void> next = CompletableFuture.runAsync(
				() -> this.engine.template().acquire(LockRequest.of("contended").ttl(LASTING)).close(),
				(task) -> new Thread(task).start());
		try (BlockingAppender appender = new BlockingAppender()) {
			// one loss is found by an answer, the other one by the watchdog
			this.store.lose("lost");
			await().atMost(Duration.ofSeconds(20)).until(() -> !appender.threads.isEmpty());
			long blocked = System.nanoTime();
			await().atMost(Duration.ofSeconds(20)).until(() -> !fixed.isHeld() && !renewed.isHeld());
			this.engine.template().acquire(LockRequest.of("free")).close();
			contended.close();
			next.join();
			await().atMost(Duration.ofSeconds(20))
				.until(() -> System.nanoTime() - blocked >= Duration.ofSeconds(3).toNanos());
			int renewals = this.store.renewed.size();
			await().atMost(Duration.ofSeconds(20)).until(() -> this.store.renewed.size() >= renewals + 3);
			assertThat(other.isHeld()).isTrue();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(renewed::close);
			assertThat(appender.threads).containsExactly("lockspring-events");
		}
		await().atMost(Duration.ofSeconds(20))
			.until(() -> this.events.stream().filter(LockEvent.Lost.class::isInstance).count() == 2);
		other.close();
	}

}
