package io.github.lockspring.engine;

import java.util.List;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.engine.Caller.Patience;
import io.github.lockspring.store.AcquireResult;
import io.github.lockspring.store.RenewResult;

/**
 * Takes one key on the present thread: queues, asks the store when the entry says so,
 * sleeps when it says so.
 */
final class Acquirer {

	private final LockTable table;

	Acquirer(LockTable table) {
		this.table = table;
	}

	/**
	 * Acquires a lock, or does not.
	 * @return {@link Step.Granted} or {@link Step.GiveUp}
	 */
	Step acquire(Terms terms, Patience patience) {
		Caller caller = new Caller(terms, patience);
		LockEntry entry = this.table.entry(terms.key());
		try {
			Step step = entry.join(caller);
			while (step == null) {
				entry = this.table.entry(terms.key());
				step = entry.join(caller);
			}
			while (true) {
				if (step instanceof Step.Look look) {
					ask(entry, caller, look);
				}
				else if (step instanceof Step.Renew renew) {
					renew(entry, caller, renew);
				}
				else if (step instanceof Step.Park park) {
					this.table.time.park(entry, park.nanos());
				}
				else {
					return step;
				}
				step = entry.next(caller);
			}
		}
		catch (Throwable ex) {
			entry.abandon(caller);
			throw ex;
		}
		finally {
			if (caller.interruptedMeanwhile) {
				Thread.currentThread().interrupt();
			}
		}
	}

	private void ask(LockEntry entry, Caller caller, Step.Look look) {
		AcquireResult answer;
		try {
			answer = this.table.store.acquire(look.request(), caller.terms.timeout(this.table.settings));
		}
		catch (LockUnavailableException ex) {
			this.table.looks.unanswered(entry, caller, look, ex);
			return;
		}
		catch (RuntimeException ex) {
			this.table.looks.unanswered(entry, caller, look, unexpected(ex));
			return;
		}
		this.table.looks.answered(entry, caller, look, answer);
	}

	private void renew(LockEntry entry, Caller caller, Step.Renew renew) {
		RenewResult answer;
		try {
			answer = Calls.uninterrupted(
					() -> this.table.store.renew(List.of(renew.request()), caller.terms.timeout(this.table.settings))
						.get(0));
		}
		catch (LockUnavailableException ex) {
			this.table.passing.unanswered(entry, renew, ex);
			return;
		}
		catch (RuntimeException ex) {
			this.table.passing.unanswered(entry, renew, unexpected(ex));
			return;
		}
		this.table.passing.answered(entry, renew, answer);
	}

	private static LockUnavailableException unexpected(RuntimeException ex) {
		return new LockUnavailableException("The store failed in an unexpected way: " + ex, ex);
	}

}
