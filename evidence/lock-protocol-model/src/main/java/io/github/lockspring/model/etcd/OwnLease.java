package io.github.lockspring.model.etcd;

import io.github.lockspring.model.Cells;

/**
 * What an instance knows of a lease of its own.
 *
 * @param id its name; 0: there is none
 * @param guard its guard as last read
 * @param provenLeft ticks for which it is proven
 */
record OwnLease(int id, Guard guard, int provenLeft) {

	static final OwnLease NONE = new OwnLease(0, Guard.NONE, 0);

	OwnLease withGuard(Guard read) {
		return new OwnLease(this.id, read, this.provenLeft);
	}

	OwnLease proven(int left) {
		return new OwnLease(this.id, this.guard, Math.max(left, this.provenLeft));
	}

	OwnLease older() {
		return new OwnLease(this.id, this.guard, Math.max(this.provenLeft - 1, 0));
	}

	OwnLease renamed(Names names) {
		return new OwnLease(names.lease(this.id), this.guard.renamed(names), this.provenLeft);
	}

	OwnLease pass(Cells cells) {
		return new OwnLease(cells.pass(this.id), this.guard.pass(cells), cells.pass(this.provenLeft));
	}

	@Override
	public String toString() {
		return Names.lease("L", this.id) + " proven for " + this.provenLeft;
	}

}
