package io.github.lockspring.sample;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.Lock;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The programs that the README shows, on a store in memory: such tests need no Redis.
 */
@Import(ProgramExamplesTests.Invoices.class)
@SpringBootTest(properties = { "distributed-lock.store=memory", "shop.report.cron=-" })
class ProgramExamplesTests {

	private int shipped;

	private long token;

	@Autowired
	private LockTemplate locks;

	@Autowired
	private Invoices invoices;

	@Test
	void acquireReturnsAHandleThatReleasesTheLock() {
		try (HeldLock lock = locks.acquire(LockRequest.of("order:42").ttl(Duration.ofSeconds(30)).renew())) {
			ship(42, lock.fencingToken());
			assertThat(locks.tryAcquire(LockRequest.of("order:42").waitTime(Duration.ZERO))).isEmpty();
		}
		assertThat(this.shipped).isEqualTo(42);
		assertThat(this.token).isPositive();
	}

	@Test
	void tryAcquireGivesAHandleOrNone() {
		Optional<HeldLock> maybe = locks.tryAcquire(LockRequest.of("order:42").waitTime(Duration.ZERO));
		assertThat(maybe).isPresent();
		maybe.get().close();
	}

	@Test
	void asLockGivesALockOfTheJdk() {
		Lock lock = locks.asLock("order:42");
		lock.lock();
		try {
			assertThat(lock.tryLock()).isTrue();
			lock.unlock();
		}
		finally {
			lock.unlock();
		}
	}

	@Test
	void annotatedMethodFindsTheTokenOfItsLock() {
		assertThat(invoices.invoice(new Order("42", List.of("tea")))).isPositive();
	}

	@Test
	void executeRunsWorkUnderALock() {
		assertThat(sell("tea")).isEqualTo("one tea, and the lock is held");
	}

	private String sell(String article) {
		return this.locks.execute(LockRequest.of("stock:" + article), (lock) -> takeOne(article));
	}

	private String takeOne(String article) {
		return "one " + article + ", and the lock is "
				+ (HeldLock.current("stock:" + article).isPresent() ? "held" : "free");
	}

	@Test
	void annotatedMethodRunsUnderALock() {
		invoices.ship(new Order("42", List.of()));
	}

	private void ship(int order, long fencingToken) {
		this.shipped = order;
		this.token = fencingToken;
	}

	public static class Invoices {

		@DistributedLock(name = "order", key = "#order.id", ttl = "30s", renew = true)
		public void ship(Order order) {
			assertThat(HeldLock.current().orElseThrow().keys()).containsExactly("order:" + order.id());
		}

		@DistributedLock(name = "order", key = "#order.id")
		public long invoice(Order order) {
			return HeldLock.current().orElseThrow().fencingToken();
		}

	}

}
