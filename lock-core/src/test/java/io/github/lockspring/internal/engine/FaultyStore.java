package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.StoreTraits;
import io.github.lockspring.store.memory.MemoryLockStore;

/**
 * Locks in memory, over a store that blocks and can be made to hang, each area
 * ({@code area/key}) a shard.
 */
final class FaultyStore extends ScriptedStore {

	private volatile CountDownLatch silence = new CountDownLatch(0);

	private volatile CompletableFuture<Void> hangingRenewals = CompletableFuture.completedFuture(null);

	private volatile String hangingShard = "";

	private final Set<String> lost = ConcurrentHashMap.newKeySet();

	private volatile Runnable look = () -> {
	};

	/** The thread of each release. */
	final List<Thread> releases = new CopyOnWriteArrayList<>();

	FaultyStore() {
		super(new MemoryLockStore());
		this.traits = StoreTraits.exact().withBlocking(true);
		Function<RenewRequest, RenewResult> answer = this.onRenew;
		this.onRenew = (request) -> {
			this.look.run();
			if (this.lost.contains(request.key())) {
				return RenewResult.NOT_OWNER;
			}
			if (request.key().startsWith(this.hangingShard)) {
				this.hangingRenewals.join();
			}
			return answer.apply(request);
		};
	}

	/** From now on this lock belongs to another owner. */
	void lose(String key) {
		this.lost.add(key);
	}

	/** Runs on each thread that renews. */
	void onThread(Runnable look) {
		this.look = look;
	}

	/** From now on requests wait out their timeouts. */
	void fallSilent() {
		this.silence = new CountDownLatch(1);
	}

	/**
	 * From now on renewals of keys with this prefix hang, whatever their timeouts.
	 */
	void hangRenewals(String shard) {
		this.hangingShard = shard;
		this.hangingRenewals = new CompletableFuture<>();
	}

	void answerAgain() {
		this.silence.countDown();
		this.hangingRenewals.complete(null);
	}

	@Override
	void beforeAnswer(Duration timeout) {
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
	public CompletionStage<ReleaseResult> release(ReleaseRequest request, Duration timeout) {
		this.releases.add(Thread.currentThread());
		return super.release(request, timeout);
	}

	@Override
	public String shard(String key) {
		return key.substring(0, key.indexOf('/') + 1);
	}

}
