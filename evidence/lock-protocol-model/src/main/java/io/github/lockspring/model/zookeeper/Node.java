package io.github.lockspring.model.zookeeper;

import io.github.lockspring.model.Cells;

/**
 * An ephemeral node in the queue.
 *
 * @param instance whose it is
 * @param token its value
 * @param zxid of its creation
 * @param session with which it ends
 */
record Node(int instance, int token, int zxid, int session) {

	static final Node NONE = new Node(0, 0, 0, 0);

	Node renamed(Names names) {
		return new Node(this.instance, this.token, names.zxid(this.zxid), names.session(this.session));
	}

	Node pass(Cells cells) {
		return new Node(cells.pass(this.instance), cells.pass(this.token), cells.pass(this.zxid),
				cells.pass(this.session));
	}

	@Override
	public String toString() {
		return World.name(this.instance) + this.token + "@" + this.zxid + " of " + Names.session("S", this.session);
	}

}
