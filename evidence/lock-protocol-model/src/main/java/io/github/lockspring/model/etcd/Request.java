package io.github.lockspring.model.etcd;

import java.util.Locale;

import io.github.lockspring.model.Cells;

/**
 * A request to the server.
 *
 * @param type what it asks for
 * @param instance who sent it
 * @param lock whose queue it is about
 * @param token number of the owner token
 * @param revision of the entry that it is about; 0: none
 * @param lease that it names
 * @param kind which of the instance's leases that is
 * @param guard the guard of that lease, as far as it is known
 * @param settles whether it also puts the guard
 * @param term of the renewal that a read is to prove
 */
record Request(Type type, int instance, int lock, int token, int revision, int lease, LeaseKind kind, Guard guard,
		boolean settles, int term) {

	/**
	 * The requests.
	 */
	enum Type {

		BEGIN, ADD, REMOVE, SETTLE, PLACE, WATCH, KEEP_ALIVE, READ, RAISE, KEEP, REVOKE

	}

	private static final Type[] TYPES = Type.values();

	static final Request NONE = new Request(Type.BEGIN, 0, 0, 0, 0, 0, LeaseKind.FIRST, Guard.NONE, false, 0);

	String sender() {
		return World.name(this.instance, this.lock);
	}

	/** Whether it changes nothing on the server. */
	boolean isRead() {
		return this.type == Type.PLACE || this.type == Type.READ;
	}

	/** Whether an instance counts a time from its sending. */
	boolean countsFromSending() {
		return switch (this.type) {
			case BEGIN, ADD, PLACE, KEEP_ALIVE, READ -> true;
			case REMOVE, SETTLE, WATCH, RAISE, KEEP, REVOKE -> false;
		};
	}

	Request renamed(Names names) {
		return new Request(this.type, this.instance, this.lock, this.token, names.revision(this.revision),
				names.lease(this.lease), this.kind, this.guard.renamed(names), this.settles, this.term);
	}

	Request pass(Cells cells) {
		return new Request(cells.pass(this.type, TYPES), cells.pass(this.instance), cells.pass(this.lock),
				cells.pass(this.token), cells.pass(this.revision), cells.pass(this.lease),
				cells.pass(this.kind, LeaseKind.ALL), this.guard.pass(cells), cells.pass(this.settles),
				cells.pass(this.term));
	}

	@Override
	public String toString() {
		return this.type.name().toLowerCase(Locale.ROOT) + ((this.revision != 0) ? " @" + this.revision : "")
				+ ((this.lease != 0) ? " " + Names.lease("L", this.lease) : "") + (this.settles ? " and guard" : "");
	}

}
