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

	void add(Terms inner, long now) {
		this.present.add(new Reentry(inner, inner.limitFrom(now)));
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
