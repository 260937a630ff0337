package io.github.lockspring.model.zookeeper;

import java.util.Locale;

import io.github.lockspring.model.Cells;

/**
 * A request to a server.
 *
 * @param type what it asks for
 * @param instance who sent it
 * @param token the owner token
 * @param zxid of the node that it is about; 0: none
 * @param session of the handle through which it was sent
 */
record Request(Type type, int instance, int token, int zxid, int session) {

	/**
	 * The requests.
	 */
	enum Type {

		/** {@code create} and {@code getChildren}, one after the other. */
		ADD,
		/** {@code sync} and {@code getChildren}. */
		FIND,
		/** {@code delete}. */
		REMOVE,
		/** {@code getChildren}, and a watch on the node before. */
		PLACE,
		/** {@code multi} of {@code check}. */
		CHECK

	}

	private static final Type[] TYPES = Type.values();

	static final Request NONE = new Request(Type.ADD, 0, 0, 0, 0);

	Request renamed(Names names) {
		return new Request(this.type, this.instance, this.token, names.zxid(this.zxid), names.session(this.session));
	}

	Request pass(Cells cells) {
		return new Request(cells.pass(this.type, TYPES), cells.pass(this.instance), cells.pass(this.token),
				cells.pass(this.zxid), cells.pass(this.session));
	}

	@Override
	public String toString() {
		return this.type.name().toLowerCase(Locale.ROOT) + ((this.zxid != 0) ? " @" + this.zxid : "");
	}

}
