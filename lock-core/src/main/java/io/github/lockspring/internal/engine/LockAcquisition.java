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

	private static final class Part {

		private final DefaultHeldLock lock;

		private final LockParameters parameters;

		/** What the re-entry means for the hold; null for a new hold. */
		private final Hold.@Nullable Reentry reentry;

		/** Whether it outlasts the call, in a unit of work. */
		private boolean kept;

		Part(DefaultHeldLock lock, LockParameters parameters, Hold.@Nullable Reentry reentry) {
			this.lock = lock;
			this.parameters = parameters;
			this.reentry = reentry;
		}

		/** Returns whether it was lost. */
		boolean end(boolean last, boolean inBackground) {
			if (this.reentry == null && (last || !this.kept)) {
				return this.lock.end(inBackground);
			}
			boolean lost = !this.lock.isHeld();
			if (last || !this.kept) {
				this.lock.exit(this.parameters);
			}
			return lost;
		}

	}

	private final List<Part> parts = new ArrayList<>(1);

	private final List<Runnable> armed = new ArrayList<>(0);

	void add(DefaultHeldLock lock) {
		this.parts.add(new Part(lock, lock.parameters(), null));
	}

	/**
	 * Enters a hold of the call chain again.
	 * @throws LockLostException if it is lost
	 */
	void reenter(DefaultHeldLock lock, LockParameters parameters) {
		Hold.Reentry effect = lock.enter(parameters);
		if (effect == Hold.Reentry.REFUSED) {
			lock.ensureHeld();
			throw lock.lostException();
		}
		this.parts.add(new Part(lock, parameters, effect));
	}

	List<DefaultHeldLock> newLocks() {
		List<DefaultHeldLock> locks = new ArrayList<>(this.parts.size());
		for (Part part : this.parts) {
			if (part.reentry == null) {
				locks.add(part.lock);
			}
		}
		return locks;
	}

	KeyedLock lock() {
		if (this.parts.size() == 1) {
			return this.parts.get(0).lock;
		}
		return together(this.parts.stream().map((part) -> part.lock).toList());
	}

	private static KeyedLock together(List<DefaultHeldLock> locks) {
		return (locks.size() == 1) ? locks.get(0) : new CompositeHeldLock(List.copyOf(locks));
	}

	/**
	 * Makes the locks part of the call chain.
	 * @return the scope to close
	 */
	CallChain.Scope openScope() {
		return CallChain.open(lock(), lock().locks());
	}

	/**
	 * Keeps the locks beyond the end of the call, until the unit of work is complete: the
	 * new holds, and the re-entries that require more than the hold that they entered.
	 */
	void belongTo(UnitOfWork unit) {
		this.parts.forEach((part) -> part.kept = part.reentry != Hold.Reentry.UNCHANGED);
		if (this.parts.stream().noneMatch((part) -> part.kept)) {
			return;
		}
		List<DefaultHeldLock> locks = newLocks();
		locks.forEach(DefaultHeldLock::keep);
		CallChain.Attachment attachment = locks.isEmpty() ? null : CallChain.attach(locks);
		try {
			this.users.incrementAndGet();
			unit.afterCompletion(() -> {
				close(attachment);
				if (isLastUser()) {
					// no caller is left to be told of a loss, which has been an event
					endKept();
				}
			});
		}
		catch (Throwable ex) {
			this.users.decrementAndGet();
			close(attachment);
			throw ex;
		}
	}

	private static void close(CallChain.@Nullable Attachment attachment) {
		if (attachment != null) {
			attachment.close();
		}
	}

	private boolean isLastUser() {
		return this.users.decrementAndGet() == 0;
	}

	private void endKept() {
		for (int i = this.parts.size() - 1; i >= 0; i--) {
			if (this.parts.get(i).kept) {
				this.parts.get(i).end(true, false);
			}
		}
	}

	/** Lets a loss interrupt the present thread, where that was requested. */
	void armInterrupts() {
		for (Part part : this.parts) {
			Runnable disarm = (part.parameters.onLost() == OnLost.INTERRUPT) ? part.lock.arm() : null;
			if (disarm != null) {
				this.armed.add(disarm);
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
		boolean last = isLastUser();
		LockLostException lost = null;
		for (int i = this.parts.size() - 1; i >= 0; i--) {
			Part part = this.parts.get(i);
			if (part.end(last, inBackground)) {
				lost = CompositeHeldLock.first(lost, part.lock.lostException());
			}
		}
		return lost;
	}

}
