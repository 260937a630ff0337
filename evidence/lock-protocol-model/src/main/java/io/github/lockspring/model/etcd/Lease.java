package io.github.lockspring.model.etcd;

import io.github.lockspring.model.Cells;

/**
 * A lease on the server.
 *
 * @param id its name
 * @param ttl ticks that a renewal gives it
 * @param left ticks that it lasts at least
 */
record Lease(int id, int ttl, int left) {

	static final Lease NONE = new Lease(0, 0, 0);

	Lease renewed() {
		return new Lease(this.id, this.ttl, this.ttl);
	}

	Lease older() {
		return new Lease(this.id, this.ttl, Math.max(this.left - 1, 0));
	}

	Lease renamed(Names names) {
		return new Lease(names.lease(this.id), this.ttl, this.left);
	}

	Lease pass(Cells cells) {
		return new Lease(cells.pass(this.id), cells.pass(this.ttl), cells.pass(this.left));
	}

	@Override
	public String toString() {
		return Names.lease("L", this.id) + ":" + this.left;
	}

}
