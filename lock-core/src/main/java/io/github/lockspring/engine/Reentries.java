package io.github.lockspring.engine;

import java.util.ArrayList;
import java.util.List;

import io.github.lockspring.OnLost;

/**
 * The calls that have entered a hold again and not ended yet. Guarded by the entry's
 * lock.
 */
final class Reentries {

	private record Reentry(Terms terms, long limit) {
	}

	private final List<Reentry> present = new ArrayList<>(0);

	/**
	 * What became of a call that entered a hold again.
	 */
	enum Entered {

		/** Not at all: it is a new hold, or the old one was lost. */
		NOT,
		/** It wants no more than the hold and those before it. */
		AS_IT_IS,
		/** It wants the lock for longer, or to be told of its loss. */
		WANTING_MORE

	}

	Entered add(Terms inner, long now, Terms own, long ownLimit) {
		Reentry reentry = new Reentry(inner, inner.limitFrom(now));
		boolean forEver = own.renew() && own.maxHold() == Time.FOREVER;
		boolean longer = inner.renew() && !forEver && reentry.limit - limit(ownLimit) > 0;
		boolean stricter = inner.onLost() != OnLost.NOTIFY && onLost(own.onLost()) == OnLost.NOTIFY;
		this.present.add(reentry);
		return (longer || stricter) ? Entered.WANTING_MORE : Entered.AS_IT_IS;
	}

	void remove(Terms inner) {
		// two threads may share a handle, so that it need not be the last one
		for (int i = this.present.size() - 1; i >= 0; i--) {
			if (this.present.get(i).terms == inner) {
				this.present.remove(i);
				return;
			}
		}
	}

	/** The limit of a hold, which each call inside that wants renewal may put off. */
	long limit(long own) {
		long latest = own;
		for (Reentry reentry : this.present) {
			if (reentry.terms.renew()) {
				latest = Time.later(latest, reentry.limit);
			}
		}
		return latest;
	}

	OnLost onLost(OnLost own) {
		OnLost strictest = own;
		for (Reentry reentry : this.present) {
			if (strictest == OnLost.NOTIFY) {
				strictest = reentry.terms.onLost();
			}
		}
		return strictest;
	}

}
