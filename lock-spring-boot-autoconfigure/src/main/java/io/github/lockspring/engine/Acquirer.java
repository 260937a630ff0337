package io.github.lockspring.engine;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.engine.Caller.Patience;
import io.github.lockspring.store.AcquireAnswer;

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
		LockEntry entry;
		do {
			entry = this.table.entry(terms.key());
		}
		while (!entry.join(caller));
		try {
			while (true) {
				Step step = entry.next(caller);
				if (step instanceof Step.Look look) {
					ask(entry, caller, look);
				}
				else if (step instanceof Step.Park park) {
					this.table.time.park(entry, park.nanos());
				}
				else {
					return step;
				}
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
		AcquireAnswer answer;
		try {
			answer = this.table.store.acquire(look.question(), caller.terms.timeout(this.table.settings));
		}
		catch (LockUnavailableException ex) {
			this.table.looks.unanswered(entry, caller, look, ex);
			return;
		}
		catch (RuntimeException ex) {
			this.table.looks.unanswered(entry, caller, look,
					new LockUnavailableException("The store failed in an unexpected way: " + ex, ex));
			return;
		}
		this.table.looks.answered(entry, caller, look, answer);
	}

}
