package io.github.lockspring.internal.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockspring.LockLostException;
import io.github.lockspring.OnLost;
import io.github.lockspring.internal.KeyedLock;
import io.github.lockspring.internal.UnitOfWork;
import io.github.lockspring.internal.base.CallChain;
import org.jspecify.annotations.Nullable;

/**
 * What one request has acquired: new holds, and re-entries into holds of the same call
 * chain. For one thread, except that a unit of work may be completed on another one.
 */
final class LockAcquisition {

	/**
	 * The call, and the unit of work if there is one: the last of them to end releases.
	 */
	private final AtomicInteger users = new AtomicInteger(1);

	/**
	 * The lock of one key.
	 *
	 * @param lock the lock
	 * @param entered whether an outer call has acquired it: that call's options count,
	 * and its end releases
	 */
	private record Part(DefaultHeldLock lock, boolean entered) {
	}

	private final List<Part> parts = new ArrayList<>(1);

	private final List<Runnable> armed = new ArrayList<>(0);

	void add(DefaultHeldLock lock) {
		this.parts.add(new Part(lock, false));
	}

	/**
	 * Enters a hold of the call chain again.
	 * @throws LockLostException if it is lost
	 */
	void reenter(DefaultHeldLock lock) {
		lock.ensureHeld();
		this.parts.add(new Part(lock, true));
	}

	List<DefaultHeldLock> newLocks() {
		List<DefaultHeldLock> locks = new ArrayList<>(this.parts.size());
		for (Part part : this.parts) {
			if (!part.entered) {
				locks.add(part.lock);
			}
		}
		return locks;
	}

	KeyedLock lock() {
		if (this.parts.size() == 1) {
			return this.parts.get(0).lock;
		}
		return new CompositeHeldLock(this.parts.stream().map((part) -> part.lock).toList());
	}

	/**
	 * Makes the locks part of the call chain.
	 * @return the scope to close
	 */
	CallChain.Scope openScope() {
		return CallChain.open(lock(), lock().locks());
	}

	/**
	 * Keeps the new holds beyond the end of the call, until the unit of work is complete.
	 */
	void belongTo(UnitOfWork unit) {
		List<DefaultHeldLock> locks = newLocks();
		if (locks.isEmpty()) {
			return;
		}
		locks.forEach(DefaultHeldLock::keep);
		CallChain.Attachment attachment = CallChain.attach(locks);
		try {
			this.users.incrementAndGet();
			unit.afterCompletion(() -> {
				attachment.close();
				if (isLastUser()) {
					// no caller is left to be told of a loss, which has been an event
					endAll(true, false);
				}
			});
		}
		catch (Throwable ex) {
			this.users.decrementAndGet();
			attachment.close();
			throw ex;
		}
	}

	private boolean isLastUser() {
		return this.users.decrementAndGet() == 0;
	}

	/** Lets a loss interrupt the present thread, where that was requested. */
	void armInterrupts() {
		for (Part part : this.parts) {
			if (!part.entered && part.lock.parameters().onLost() == OnLost.INTERRUPT) {
				this.armed.add(part.lock.arm());
			}
		}
	}

	/**
	 * Ends everything, last key first; what belongs to a unit of work that is not
	 * complete is kept.
	 * @param inBackground whether the releases are left to the background
	 * @return the losses that the caller is to be told of, the first with the others
	 * suppressed into it; null if there is none
	 */
	@Nullable LockLostException end(boolean inBackground) {
		this.armed.forEach(Runnable::run);
		return endAll(isLastUser(), inBackground);
	}

	private @Nullable LockLostException endAll(boolean last, boolean inBackground) {
		LockLostException lost = null;
		for (int i = this.parts.size() - 1; i >= 0; i--) {
			Part part = this.parts.get(i);
			boolean isLost = (last && !part.entered) ? part.lock.end(inBackground) : !part.lock.isHeld();
			if (isLost) {
				lost = CompositeHeldLock.first(lost, part.lock.lostException());
			}
		}
		return lost;
	}

}
