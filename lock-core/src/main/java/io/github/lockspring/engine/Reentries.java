package io.github.lockspring.engine;

import java.util.ArrayList;
import java.util.List;

import io.github.lockspring.OnLost;
import io.github.lockspring.engine.support.Time;

/**
 * The calls that have entered a hold again and not ended yet. Guarded by the monitor of
 * the key's lock.
 */
final class Reentries {

	/**
	 * What a call that entered a hold again means for it.
	 */
	enum Effect {

		/** The hold is lost: the call did not enter it. */
		REFUSED,
		/** The call requires no more than the hold and the calls before it. */
		UNCHANGED,
		/** The call requires the lock for longer, or to be told of its loss. */
		EXTENDED

	}

	private record Reentry(LockParameters parameters, long limit) {
	}

	private final LockParameters own;

	private final List<Reentry> present = new ArrayList<>(1);

	Reentries(LockParameters own) {
		this.own = own;
	}

	Effect add(LockParameters inner, long now, long ownLimit) {
		Reentry reentry = new Reentry(inner, inner.limitFrom(now));
		boolean unbounded = this.own.renew() && this.own.maxHold() == Time.FOREVER;
		boolean longer = inner.renew() && !unbounded && reentry.limit - limit(ownLimit) > 0;
		boolean stricter = inner.onLost() != OnLost.NOTIFY && onLost() == OnLost.NOTIFY;
		this.present.add(reentry);
		return (longer || stricter) ? Effect.EXTENDED : Effect.UNCHANGED;
	}

	void remove(LockParameters inner) {
		// two threads may share a handle, so it need not be the last one
		for (int i = this.present.size() - 1; i >= 0; i--) {
			if (this.present.get(i).parameters == inner) {
				this.present.remove(i);
				return;
			}
		}
	}

	/** Returns the limit of a hold, which each renewed call inside it may put off. */
	long limit(long ownLimit) {
		long latest = ownLimit;
		for (Reentry reentry : this.present) {
			if (reentry.parameters.renew()) {
				latest = Time.later(latest, reentry.limit);
			}
		}
		return latest;
	}

	OnLost onLost() {
		OnLost strictest = this.own.onLost();
		for (Reentry reentry : this.present) {
			if (strictest == OnLost.NOTIFY) {
				strictest = reentry.parameters.onLost();
			}
		}
		return strictest;
	}

}
