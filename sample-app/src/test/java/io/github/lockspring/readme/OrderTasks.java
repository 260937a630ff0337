package io.github.lockspring.readme;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.Lock;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;

import org.springframework.stereotype.Component;

/**
 * Locks parts of methods, as on the pages.
 */
@Component
public class OrderTasks {

	private final LockTemplate locks;

	private long token;

	private long cancelled;

	OrderTasks(LockTemplate locks) {
		this.locks = locks;
	}

	String invoiceUnderLock(long id) {
		return this.locks.execute(LockRequest.of("order", id), (lock) -> invoice(id));
	}

	long tokenOf(long id) {
		return this.locks.execute(LockRequest.of("order", id), (lock) -> lock.fencingToken());
	}

	String assignUnderLocks() {
		return this.locks.execute(LockRequest.of("order", 1).and("customer", 2), (lock) -> assign(1, 2));
	}

	Optional<HeldLock> tryWithoutWaiting(long id) {
		Optional<HeldLock> maybe = this.locks.tryAcquire(LockRequest.of("order", id).waitTime(Duration.ZERO));
		return maybe;
	}

	boolean cancelUnlessBusy(long id) {
		LockRequest request = LockRequest.of("order", id).waitTime(Duration.ZERO);
		try (HeldLock lock = this.locks.tryAcquire(request).orElse(null)) {
			if (lock == null) {
				return false;
			}
			cancel(id);
			return true;
		}
	}

	long shipWithHandle() {
		try (HeldLock lock = this.locks.acquire(LockRequest.of("order", 42).ttl(Duration.ofSeconds(10)))) {
			ship(42, lock.fencingToken());
		}
		return this.token;
	}

	boolean isTakenTwiceByOneThread() {
		Lock lock = this.locks.asLock("order:42");
		lock.lock();
		try {
			boolean again = lock.tryLock();
			lock.unlock();
			return again;
		}
		finally {
			lock.unlock();
		}
	}

	private void cancel(long id) {
		this.cancelled = id;
	}

	private String invoice(long id) {
		return "invoice of " + id;
	}

	private String assign(long order, long customer) {
		return order + " belongs to " + customer + " under " + HeldLock.current().orElseThrow().keys();
	}

	private void ship(long order, long fencingToken) {
		this.token = fencingToken;
	}

}
