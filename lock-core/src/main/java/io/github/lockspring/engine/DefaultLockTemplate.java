package io.github.lockspring.engine;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.locks.Lock;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockCallback;
import io.github.lockspring.LockContext;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockException;
import io.github.lockspring.LockInterruptedException;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockSpec;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.OnLost;
import io.github.lockspring.UnitOfWork;
import io.github.lockspring.engine.Caller.Patience;
import org.jspecify.annotations.Nullable;

/**
 * Takes what a request asks for, key by key in their order, runs the work, and gives it
 * back.
 */
final class DefaultLockTemplate implements LockTemplate {

	private final LockTable table;

	private final Acquirer acquirer;

	private final ThreadLocks threadLocks;

	private final UnitOfWork unitOfWork;

	DefaultLockTemplate(LockTable table, UnitOfWork unitOfWork) {
		this.table = table;
		this.unitOfWork = unitOfWork;
		this.acquirer = new Acquirer(table);
		this.threadLocks = new ThreadLocks(this, table.settings);
	}

	@Override
	@SuppressWarnings("try")
	public <T extends @Nullable Object, X extends Throwable> T execute(LockRequest request, LockCallback<T, X> work)
			throws X {
		Objects.requireNonNull(work, "work");
		Taken taken = take(request, patience(request), true, this.unitOfWork.isActive());
		T result;
		try (LockContext.Scope scope = taken.openScope()) {
			taken.armInterrupts();
			result = work.doUnderLock(taken.lock());
		}
		catch (Throwable ex) {
			LockLostException lost = taken.end();
			if (lost != null) {
				ex.addSuppressed(lost);
			}
			throw ex;
		}
		LockLostException lost = taken.end();
		if (lost != null) {
			throw lost;
		}
		return result;
	}

	@Override
	public HeldLock acquire(LockRequest request) {
		return acquire(request, patience(request));
	}

	@Override
	public Optional<HeldLock> tryAcquire(LockRequest request) {
		try {
			return Optional.of(acquire(request));
		}
		catch (LockNotAcquiredException ex) {
			return Optional.empty();
		}
	}

	@Override
	public Lock asLock(String key) {
		return this.threadLocks.lock(key);
	}

	/**
	 * For somebody who waits without a bound, and would wait for ever for a lock of the
	 * own call chain.
	 */
	void refuseOwn(String key) {
		if (outer(key) != null) {
			throw new IllegalStateException("Lock '" + key + "' is held by the present call chain, through an annotated"
					+ " method or execute, or kept for its transaction: asLock is not re-entrant with those and"
					+ " would wait for itself. Use execute here too");
		}
	}

	HeldLock acquire(LockRequest request, Patience patience) {
		if (request.onLost() == OnLost.INTERRUPT) {
			throw new IllegalArgumentException("OnLost.INTERRUPT needs to know which thread works under the lock"
					+ " and when it ends: use execute, or an annotated method");
		}
		Taken taken = take(request, patience, false, false);
		taken.newHolds().forEach((hold) -> hold.opener = Thread.currentThread());
		return taken.lock();
	}

	private Patience patience(LockRequest request) {
		Duration waitTime = request.waitTime();
		long nanos = ((waitTime != null) ? waitTime : this.table.settings.waitTime()).toNanos();
		return new Patience(this.table.time.nanoTime() + nanos, nanos == 0, Time.FOREVER, true,
				request.locks().size() > 1);
	}

	/**
	 * Takes what a request asks for.
	 * @param reenter whether what the call chain holds is entered again
	 * @param outlasting whether the locks belong to the present unit of work
	 */
	private Taken take(LockRequest request, Patience patience, boolean reenter, boolean outlasting) {
		this.table.checkRunning();
		long asked = this.table.time.nanoTime();
		Taken taken = new Taken();
		try {
			for (LockSpec spec : request.locks()) {
				Hold outer = reenter ? outer(spec.key()) : null;
				Terms terms = Terms.of(spec, request.onLost(), this.table.settings, outlasting && outer == null);
				if (outer == null) {
					taken.add(acquire(terms, patience, asked));
					continue;
				}
				Reentries.Entered entered = outer.enter(terms);
				if (entered == Reentries.Entered.NOT) {
					outer.ensureHeld();
					throw outer.lostException();
				}
				taken.addReentry(outer, terms, entered);
			}
			if (patience.deferred()) {
				begin(taken.newHolds());
			}
			if (outlasting) {
				taken.belongTo(this.unitOfWork);
			}
		}
		catch (Throwable ex) {
			taken.abandon(ex instanceof LockUnavailableException);
			throw ex;
		}
		return taken;
	}

	/**
	 * The hold of the present call chain that a request for the key would re-enter. A
	 * lost one that was only to be notified about is as good as none.
	 */
	private @Nullable Hold outer(String key) {
		for (HeldLock lock : LockContext.currentLocks()) {
			if (lock instanceof Hold hold && hold.table() == this.table && hold.key().equals(key)
					&& (hold.isHeld() || hold.onLost() != OnLost.NOTIFY)) {
				return hold;
			}
		}
		return null;
	}

	private Hold acquire(Terms terms, Patience patience, long asked) {
		Step step = this.acquirer.acquire(terms, patience);
		if (step instanceof Step.Granted granted) {
			Hold hold = granted.hold();
			if (this.table.events.hasListeners()) {
				this.table.events
					.publish(new LockEvent.Acquired(hold.key(), terms.name(), hold.fencingToken(), since(asked)));
			}
			return hold;
		}
		throw failed(terms, ((Step.GiveUp) step).failure(), patience, asked);
	}

	private LockException failed(Terms terms, Failure failure, Patience patience, long asked) {
		Duration waited = since(asked);
		if (failure instanceof Failure.Interrupted) {
			return new LockInterruptedException(terms.key(),
					Text.lock(terms) + " was not acquired: the thread was interrupted after " + Text.duration(waited));
		}
		if (failure instanceof Failure.Unavailable unavailable) {
			LockUnavailableException cause = unavailable.cause();
			this.table.events.publish(new LockEvent.Unavailable(terms.key(), terms.name(), waited, cause));
			return new LockUnavailableException(Text.lock(terms) + " could not be asked for within "
					+ Text.duration(waited) + ": " + cause.getMessage(), cause);
		}
		this.table.events.publish(new LockEvent.NotAcquired(terms.key(), terms.name(), waited));
		String outcome = patience.once() ? " is busy. " : " was not acquired within " + Text.duration(waited) + ". ";
		return new LockNotAcquiredException(terms.key(),
				Text.lock(terms) + outcome + ((Failure.Busy) failure).detail());
	}

	/**
	 * All keys are there: their limits start now. What has too little of its lease left
	 * is renewed before the work starts.
	 */
	private void begin(List<Hold> holds) {
		holds.forEach(Hold::begin);
		for (Hold hold : holds) {
			if (hold.isShort() && hold.remaining().toNanos() < hold.terms().ttl() / 2) {
				this.table.leases.renewNow(hold, Duration.ofNanos(hold.terms().ttl()), false);
			}
		}
		holds.forEach(Hold::ensureHeld);
	}

	long now() {
		return this.table.time.nanoTime();
	}

	private Duration since(long asked) {
		return Duration.ofNanos(this.table.time.nanoTime() - asked);
	}

}
