package io.github.lockspring.engine;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.AcquireRequest;
import io.github.lockspring.store.AcquireResult;
import io.github.lockspring.store.Inbox;
import io.github.lockspring.store.InboxListener;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.ReleaseRequest;
import io.github.lockspring.store.ReleaseResult;
import io.github.lockspring.store.RenewRequest;
import io.github.lockspring.store.RenewResult;
import io.github.lockspring.store.memory.MemoryLockStore;
import org.jspecify.annotations.Nullable;

/**
 * Locks in memory that can be made to hang, for tests with real threads.
 */
final class FaultyStore implements LockStore {

	private final LockStore locks = new MemoryLockStore();

	/** Zero while the store answers. */
	private volatile CountDownLatch silence = new CountDownLatch(0);

	private volatile CountDownLatch hangingRenewals = new CountDownLatch(0);

	/** The shard whose renewals hang; null: all. */
	private volatile @Nullable String hangingShard;

	/** How many leases each renewal asked for. */
	final List<Integer> renewals = new CopyOnWriteArrayList<>();

	/** Who renewed. */
	final Set<Thread> renewingThreads = ConcurrentHashMap.newKeySet();

	/** From now on requests wait out their timeouts. */
	void fallSilent() {
		this.silence = new CountDownLatch(1);
	}

	/** From now on renewals hang, whatever their timeouts. */
	void hangRenewals() {
		this.hangingRenewals = new CountDownLatch(1);
	}

	/** From now on renewals that one server would answer hang. */
	void hangRenewals(String shard) {
		this.hangingShard = shard;
		hangRenewals();
	}

	/** Each area has a server of its own: {@code area/key}. */
	@Override
	public String shard(String key) {
		return key.substring(0, key.indexOf('/') + 1);
	}

	private boolean hangs(List<RenewRequest> requests) {
		String shard = this.hangingShard;
		return this.hangingRenewals.getCount() > 0
				&& (shard == null || requests.stream().anyMatch((request) -> shard(request.key()).equals(shard)));
	}

	void answerAgain() {
		this.silence.countDown();
		this.hangingRenewals.countDown();
	}

	private void listen(Duration timeout) {
		try {
			if (!this.silence.await(timeout.toNanos(), TimeUnit.NANOSECONDS)) {
				throw new LockUnavailableException("no answer within " + timeout);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new LockUnavailableException("interrupted", ex);
		}
	}

	@Override
	public AcquireResult acquire(AcquireRequest request, Duration timeout) {
		listen(timeout);
		return this.locks.acquire(request, timeout);
	}

	@Override
	public ReleaseResult release(ReleaseRequest request, Duration timeout) {
		listen(timeout);
		return this.locks.release(request, timeout);
	}

	@Override
	public List<RenewResult> renew(List<RenewRequest> requests, Duration timeout) {
		this.renewals.add(requests.size());
		this.renewingThreads.add(Thread.currentThread());
		while (hangs(requests)) {
			try {
				this.hangingRenewals.await();
			}
			catch (InterruptedException ex) {
				// hangs all the same
			}
		}
		listen(timeout);
		return this.locks.renew(requests, timeout);
	}

	@Override
	public Optional<Inbox> inbox(String instance, InboxListener listener) {
		return this.locks.inbox(instance, listener);
	}

	@Override
	public void close() {
		answerAgain();
		this.locks.close();
	}

}
