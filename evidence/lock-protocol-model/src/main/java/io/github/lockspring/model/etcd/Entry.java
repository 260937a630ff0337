package io.github.lockspring.model.etcd;

import io.github.lockspring.model.Cells;

/**
 * An entry in a queue on the server; the name of its key is its lock and its instance.
 *
 * @param instance whose it is
 * @param lock in whose queue it is
 * @param token its value: the number of the owner token
 * @param revision of its creation
 * @param moved whether it was modified since
 * @param lease with which it ends
 * @param kept whether it stays for a while after its ownership
 */
record Entry(int instance, int lock, int token, int revision, boolean moved, int lease, boolean kept) {

	static final Entry NONE = new Entry(0, 0, 0, 0, false, 0, false);

	Entry movedTo(int otherLease, boolean keep) {
		return new Entry(this.instance, this.lock, this.token, this.revision, true, otherLease, keep);
	}

	/** What instances read of it. */
	Entry brief() {
		return new Entry(this.instance, this.lock, this.token, this.revision, false, this.lease, this.kept);
	}

	/** An entry as what others wait for. */
	Entry name() {
		return new Entry(this.instance, this.lock, 0, this.revision, false, 0, false);
	}

	Entry renamed(Names names) {
		return new Entry(this.instance, this.lock, this.token, names.revision(this.revision), this.moved,
				names.lease(this.lease), this.kept);
	}

	Entry pass(Cells cells) {
		return new Entry(cells.pass(this.instance), cells.pass(this.lock), cells.pass(this.token),
				cells.pass(this.revision), cells.pass(this.moved), cells.pass(this.lease), cells.pass(this.kept));
	}

	@Override
	public String toString() {
		return World.name(this.instance, this.lock) + this.token + "@" + this.revision + " on "
				+ Names.lease("L", this.lease) + (this.kept ? " kept" : "");
	}

}
