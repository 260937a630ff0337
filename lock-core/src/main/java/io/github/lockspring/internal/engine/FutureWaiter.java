package io.github.lockspring.internal.engine;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

import io.github.lockspring.HeldLock;
import io.github.lockspring.internal.engine.support.StoreClient;
import org.jspecify.annotations.Nullable;

/**
 * A future that waits for one key. It is completed by an executor, since what depends on
 * it is code of the user. Cancelling it, or completing it in any other way, ends the
 * wait.
 */
final class FutureWaiter extends Waiter {

	private final KeyLockRegistry registry;

	private final Executor executor;

	private final CompletableFuture<HeldLock> future = new CompletableFuture<>();

	private final long start;

	private volatile @Nullable KeyLock lock;

	/**
	 * Creates a waiter that does not wait yet.
	 * @param executor completes the future
	 */
	FutureWaiter(KeyLockRegistry registry, LockParameters parameters, WaitOptions options, Executor executor) {
		super(parameters, options);
		this.registry = registry;
		this.executor = executor;
		this.start = registry.time().nanoTime();
	}

	/**
	 * Begins to wait.
	 * @return the lock, or why it was not acquired; the holder closes it
	 */
	CompletableFuture<HeldLock> start() {
		this.registry.client().whenConnected(() -> {
			try {
				this.lock = this.registry.enqueue(this);
			}
			catch (RuntimeException | Error ex) {
				this.gone = true;
				this.future.completeExceptionally(ex);
				return;
			}
			leaveIfUnwanted();
		});
		this.future.whenComplete((held, failure) -> leaveIfUnwanted());
		return this.future;
	}

	/** It was cancelled, or its user has completed it, as after a timeout. */
	private void leaveIfUnwanted() {
		KeyLock present = this.lock;
		if (this.future.isDone() && outcome() == null && present != null) {
			present.leave(this, new AcquireFailure.Interrupted(), this.registry.time().nanoTime());
		}
	}

	@Override
	void wake() {
		Outcome known = Objects.requireNonNull(outcome(), "outcome");
		try {
			this.executor.execute(() -> complete(known));
		}
		catch (RuntimeException | Error ex) {
			if (known instanceof Held hold) {
				// nobody else would
				hold.lock.end(hold, false, this.registry.time().nanoTime());
			}
			this.registry.events().execute(() -> this.future.completeExceptionally(StoreClient.noThread(ex)));
		}
	}

	private void complete(Outcome known) {
		if (known instanceof Held hold) {
			DefaultHeldLock held = DefaultLockTemplate.acquired(this.registry, hold, this.start);
			if (!this.future.complete(held)) {
				held.end(true);
			}
		}
		else {
			this.future.completeExceptionally(DefaultLockTemplate.notAcquired(this.registry, parameters(),
					(AcquireFailure) known, options(), this.start));
		}
	}

	@Override
	boolean endsItself() {
		return false;
	}

	@Override
	@Nullable Thread thread() {
		return null;
	}

}
