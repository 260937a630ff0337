package io.github.lockspring.engine;

import java.time.Duration;
import java.util.List;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.RenewResult;
import io.github.lockspring.store.RenewRequest;
import org.jspecify.annotations.Nullable;

/**
 * When the leases of held tenures are renewed, for how long, and when they are over.
 * <p>
 * For maintainers: stateless; the watchdog and the courier call it without a lock, and it
 * takes the entry's. One rule serves renewal, fixed leases, short leases after a
 * hand-over and the longest hold: a lease is renewed while it ends before the hold's
 * limit (by more than a tenth of the ttl), and never beyond that limit. No answer
 * lengthens a lease that is over, however early its request was sent.
 */
final class Leases {

	private final LockTable table;

	Leases(LockTable table) {
		this.table = table;
	}

	/**
	 * Sees to it that the lease is looked at in time. A slot that is early is kept: when
	 * it is due it is put right, which costs less than to move it at each pass. With the
	 * entry's lock held.
	 */
	void reschedule(Tenure held, Hold hold) {
		long at = nextEvent(held, hold);
		if (held.slot == null || held.slot.time() - at > 0) {
			this.table.watchdog.schedule(held, at);
		}
	}

	private static long nextEvent(Tenure held, Hold hold) {
		boolean renewal = !held.renewing && held.needsRenewal(hold);
		return renewal ? Time.earlier(hold.expiry(), held.renewDue) : hold.expiry();
	}

	/**
	 * Called when a tenure's slot is due, or could be taken along.
	 * @return whether the lease is to be renewed now
	 */
	boolean due(Tenure held, Watchdog.Slot slot, long now) {
		held.entry.lock();
		try {
			Hold hold = held.hold;
			if (held.state != Tenure.State.HELD || hold == null || !slot.equals(held.slot)) {
				return false;
			}
			if (hold.isOver()) {
				held.entry.lose(held, Hold.OVER);
				return false;
			}
			boolean renew = !held.renewing && held.needsRenewal(hold)
					&& now - (held.renewDue - held.renewWindow()) >= 0;
			held.renewing |= renew;
			if (renew || slot.time() - now <= 0) {
				this.table.watchdog.schedule(held, nextEvent(held, hold));
			}
			return renew;
		}
		finally {
			held.entry.unlock();
		}
	}

	/** What to ask for a lease that is to be renewed; null if it need not be any more. */
	@Nullable RenewRequest request(Tenure held, long now) {
		held.entry.lock();
		try {
			Hold hold = held.hold;
			if (held.state != Tenure.State.HELD || hold == null || hold.isOver() || !held.needsRenewal(hold)) {
				held.renewing = false;
				return null;
			}
			long ttl = Math.min(hold.terms().ttl(), hold.limit() - now);
			return new RenewRequest(held.entry.key(), held.token, Duration.ofNanos(ttl));
		}
		finally {
			held.entry.unlock();
		}
	}

	/**
	 * Renews on the present thread.
	 * @param hold the present hold
	 * @param duration the time that should be left
	 * @param raiseLimit whether the hold may last that long whatever its limit was
	 * @throws LockUnavailableException without an answer
	 */
	void renewNow(Hold hold, Duration duration, boolean raiseLimit) {
		Tenure held = hold.tenure();
		RenewRequest request = new RenewRequest(held.entry.key(), held.token, duration);
		long sent = this.table.time.nanoTime();
		RenewResult answer = ask(request, hold.terms());
		held.entry.lock();
		try {
			if (held.hold != hold) {
				return;
			}
			long given = duration.toNanos();
			if (raiseLimit && answer == RenewResult.RENEWED && hold.isHeld()) {
				held.extended = true;
				// not a moment later than the lease, which would then need a renewal
				hold.raiseLimit(sent + given - Terms.drift(given));
			}
			apply(held, answer, sent, given);
		}
		finally {
			held.entry.unlock();
		}
	}

	private RenewResult ask(RenewRequest request, Terms terms) {
		Duration timeout = terms.timeout(this.table.settings);
		try {
			RenewResult answer = Calls.uninterrupted(() -> this.table.store.renew(List.of(request), timeout).get(0));
			if (answer != RenewResult.UNKNOWN) {
				return answer;
			}
		}
		catch (LockUnavailableException ex) {
			throw new LockUnavailableException(Text.lock(terms) + " could not be renewed: " + ex.getMessage(), ex);
		}
		throw new LockUnavailableException(Text.lock(terms) + " could not be renewed: the store did not answer");
	}

	/** What came of a renewal whose request was sent at the given time. */
	void renewed(Tenure held, RenewResult answer, long sent, long given) {
		held.entry.lock();
		try {
			held.renewing = false;
			apply(held, answer, sent, given);
		}
		finally {
			held.entry.unlock();
		}
	}

	/** With the entry's lock held. */
	void apply(Tenure held, RenewResult answer, long sent, long given) {
		Hold hold = held.hold;
		if (held.state != Tenure.State.HELD || hold == null) {
			return;
		}
		if (hold.isOver()) {
			held.entry.lose(held, Hold.OVER);
			return;
		}
		switch (answer) {
			case RENEWED -> lengthen(held, sent, given);
			case NOT_OWNER -> {
				held.entry.lose(held, Hold.NOT_OWNER);
				return;
			}
			case UNKNOWN -> held.renewDue = this.table.time.nanoTime() + held.given / 10;
		}
		reschedule(held, hold);
	}

	/** The store gave more time. With the entry's lock held. */
	void lengthen(Tenure held, long sent, long given) {
		if (sent + given - Terms.drift(given) - held.deadline > 0) {
			held.lease(sent, given, this.table.settings.renewalInterval());
		}
		else {
			// it has more time already, but is asked about again as others are
			held.renewDue = sent + (long) (given * this.table.settings.renewalInterval());
		}
	}

}
