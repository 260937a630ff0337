package io.github.lockspring.model.etcd;

import io.github.lockspring.model.Cells;

/**
 * The guard of a lease on the server.
 *
 * @param name its key
 * @param lease with which it ends
 * @param modified revision of its last modification
 */
record Guard(int name, int lease, int modified) {

	static final Guard NONE = new Guard(0, 0, 0);

	Guard renamed(Names names) {
		return new Guard(names.lease(this.name), names.lease(this.lease), names.guard(this.name, this.modified));
	}

	Guard pass(Cells cells) {
		return new Guard(cells.pass(this.name), cells.pass(this.lease), cells.pass(this.modified));
	}

}
