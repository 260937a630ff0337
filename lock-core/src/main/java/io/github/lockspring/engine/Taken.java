package io.github.lockspring.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockContext;
import io.github.lockspring.LockLostException;
import io.github.lockspring.OnLost;
import io.github.lockspring.UnitOfWork;
import org.jspecify.annotations.Nullable;

/**
 * What one request took: new holds, and re-entries into holds of the same call chain. For
 * one thread, except that a unit of work may be completed on another one.
 */
final class Taken {

	/**
	 * The call, and the unit of work if there is one: the last of them to end releases.
	 */
	private final AtomicInteger users = new AtomicInteger(1);

	private static final class Part {

		private final Hold hold;

		private final Terms terms;

		private final Reentries.Entered entered;

		/** Whether it outlasts the call, in a unit of work. */
		private boolean kept;

		Part(Hold hold, Terms terms, Reentries.Entered entered) {
			this.hold = hold;
			this.terms = terms;
			this.entered = entered;
		}

		boolean isReentered() {
			return this.entered != Reentries.Entered.NOT;
		}

	}

	private final List<Part> parts = new ArrayList<>(1);

	private final List<Hold> armed = new ArrayList<>(0);

	void add(Hold hold) {
		this.parts.add(new Part(hold, hold.terms(), Reentries.Entered.NOT));
	}

	void addReentry(Hold hold, Terms terms, Reentries.Entered entered) {
		this.parts.add(new Part(hold, terms, entered));
	}

	List<Hold> newHolds() {
		List<Hold> holds = new ArrayList<>(this.parts.size());
		for (Part part : this.parts) {
			if (!part.isReentered()) {
				holds.add(part.hold);
			}
		}
		return holds;
	}

	HeldLock lock() {
		if (this.parts.size() == 1) {
			return this.parts.get(0).hold;
		}
		List<Hold> holds = new ArrayList<>(this.parts.size());
		this.parts.forEach((part) -> holds.add(part.hold));
		return together(holds);
	}

	private static HeldLock together(List<Hold> holds) {
		return (holds.size() == 1) ? holds.get(0) : new HeldLocks(List.copyOf(holds));
	}

	/**
	 * Makes the locks part of the call chain.
	 * @return the scope to close
	 */
	LockContext.Scope openScope() {
		return LockContext.open(lock());
	}

	/**
	 * Keeps the locks beyond the end of the call, until the unit of work is complete: the
	 * new holds, and what re-entries want more than the hold that they entered.
	 */
	void belongTo(UnitOfWork unit) {
		this.parts.forEach((part) -> part.kept = part.entered != Reentries.Entered.AS_IT_IS);
		if (this.parts.stream().noneMatch((part) -> part.kept)) {
			return;
		}
		List<Hold> holds = newHolds();
		LockContext.Attachment attachment = holds.isEmpty() ? null : LockContext.attach(together(holds));
		try {
			this.users.incrementAndGet();
			unit.afterCompletion(() -> {
				close(attachment);
				if (isLastUser()) {
					// nobody is there to be told of a loss, which has been an event
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

	private static void close(LockContext.@Nullable Attachment attachment) {
		if (attachment != null) {
			attachment.close();
		}
	}

	private boolean isLastUser() {
		return this.users.decrementAndGet() == 0;
	}

	private void endKept() {
		for (int i = this.parts.size() - 1; i >= 0; i--) {
			Part part = this.parts.get(i);
			if (part.kept && part.isReentered()) {
				part.hold.exit(part.terms);
			}
			else if (part.kept) {
				part.hold.end(false);
			}
		}
	}

	/** From now on a loss interrupts the present thread, where that was asked for. */
	void armInterrupts() {
		for (Part part : this.parts) {
			if (part.terms.onLost() == OnLost.INTERRUPT && part.hold.arm()) {
				this.armed.add(part.hold);
			}
		}
	}

	/**
	 * Ends everything, last key first; what belongs to a unit of work that is not
	 * complete is kept.
	 * @return the losses that the caller is to be told of, the first with the others
	 * suppressed into it; null if there is none
	 */
	@Nullable LockLostException end() {
		return end(false);
	}

	/**
	 * Ends everything because a later key was not acquired.
	 * @param later whether the releases are left to the background
	 */
	void abandon(boolean later) {
		end(later);
	}

	private @Nullable LockLostException end(boolean later) {
		this.armed.forEach(Hold::disarm);
		boolean last = isLastUser();
		LockLostException lost = null;
		for (int i = this.parts.size() - 1; i >= 0; i--) {
			Part part = this.parts.get(i);
			boolean partLost;
			if (part.kept && !last) {
				partLost = !part.hold.isHeld();
			}
			else if (part.isReentered()) {
				partLost = !part.hold.isHeld();
				part.hold.exit(part.terms);
			}
			else {
				partLost = part.hold.end(later);
			}
			if (partLost && part.terms.onLost() != OnLost.NOTIFY) {
				LockLostException ex = part.hold.lostException();
				if (lost == null) {
					lost = ex;
				}
				else {
					lost.addSuppressed(ex);
				}
			}
		}
		return lost;
	}

}
