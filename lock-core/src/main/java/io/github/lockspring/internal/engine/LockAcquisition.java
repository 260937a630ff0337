package io.github.lockspring.internal.engine;

import java.util.ArrayList;
import java.util.List;

import io.github.lockspring.LockLostException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.OnLost;
import io.github.lockspring.internal.KeyedLock;
import io.github.lockspring.internal.UnitOfWork;
import io.github.lockspring.internal.base.CallChain;
import org.jspecify.annotations.Nullable;

/**
 * The holds that one request has acquired: new ones, and re-entries into those of the
 * same call chain. For one thread, except that a unit of work may be completed on another
 * one.
 */
final class LockAcquisition {

	/**
	 * The lock of one key.
	 *
	 * @param lock the lock
	 * @param entered whether an outer call has acquired it: that call's options count
	 */
	private record Part(DefaultHeldLock lock, boolean entered) {
	}

	private final List<Part> parts = new ArrayList<>(1);

	private final List<LossInterrupt> armed = new ArrayList<>(0);

	void add(DefaultHeldLock lock) {
		this.parts.add(new Part(lock, false));
	}

	/**
	 * Enters a hold of the call chain again.
	 * @throws LockLostException if it is lost
	 */
	void reenter(DefaultHeldLock lock) {
		lock.ensureHeld();
		lock.use();
		this.parts.add(new Part(lock, true));
	}

	boolean isEmpty() {
		return this.parts.isEmpty();
	}

	/** Returns the failure of a request whose time is over before its next key. */
	AcquireFailure outOfTime(LockRequest request) {
		return new AcquireFailure.Busy(LockMessages.outOfTime(this.parts.size(), request.keys().size()), false);
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
			unit.afterCompletion(() -> {
				attachment.close();
				// no caller is left to receive a loss, which was an event already
				Endings endings = new Endings();
				for (int i = locks.size() - 1; i >= 0; i--) {
					endings.end(locks.get(i), locks.get(i).endUse(), false);
				}
				endings.lost();
			});
		}
		catch (Throwable ex) {
			locks.forEach(DefaultHeldLock::endUse);
			attachment.close();
			throw ex;
		}
	}

	/**
	 * Starts the limits of the new holds, now that all keys are held, and renews short
	 * leases.
	 * @throws LockLostException if one of them was lost meanwhile
	 */
	void begin() {
		List<DefaultHeldLock> locks = newLocks();
		locks.forEach(DefaultHeldLock::begin);
		locks.forEach(DefaultHeldLock::ensureHeld);
		locks.forEach(DefaultHeldLock::renewIfShort);
		locks.forEach(DefaultHeldLock::ensureHeld);
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
	 * Ends everything, last key first; what another call or a unit of work still uses is
	 * kept.
	 * @param received whether the work has ended by an interrupt
	 * @param inBackground whether the releases are left to the background
	 * @return the losses to report to the caller, the first with the others suppressed
	 * into it; null if there is none
	 */
	@Nullable LockLostException end(boolean received, boolean inBackground) {
		Endings endings = new Endings();
		try {
			LossInterrupt.endAll(this.armed, received);
		}
		finally {
			for (int i = this.parts.size() - 1; i >= 0; i--) {
				DefaultHeldLock lock = this.parts.get(i).lock;
				endings.end(lock, lock.endUse(), inBackground);
			}
		}
		return endings.lost();
	}

	/**
	 * Ends everything after a failure, which reaches the caller whatever happens here.
	 * @param failure what has happened; an error at the end is suppressed into it
	 * @param inBackground as for {@link #end}
	 * @return as from {@link #end}
	 */
	@Nullable LockLostException endAfter(Throwable failure, boolean inBackground) {
		try {
			return end(failure instanceof InterruptedException, inBackground);
		}
		catch (RuntimeException | Error ex) {
			Endings.first(failure, ex);
			return null;
		}
	}

}
