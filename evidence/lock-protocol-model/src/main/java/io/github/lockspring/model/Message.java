package io.github.lockspring.model;

/**
 * A message in an inbox.
 *
 * @param kind what it says
 * @param token the owner token that it is about
 * @param fencingToken fencing token of a grant, else 0
 * @param othersWait whether a grant says that other tokens are queued
 */
record Message(Kind kind, int token, int fencingToken, boolean othersWait) {

	/**
	 * The two messages of the protocol.
	 */
	enum Kind {

		/** The lock was handed over to the token. */
		GRANTED,
		/** Another instance waits for what the token owns. */
		WANTED

	}

	private static final Kind[] KINDS = Kind.values();

	static final Message NONE = new Message(Kind.WANTED, 0, 0, false);

	static Message wanted(int token) {
		return new Message(Kind.WANTED, token, 0, false);
	}

	Message withToken(int renamed) {
		return new Message(this.kind, renamed, this.fencingToken, this.othersWait);
	}

	Message withFencingToken(int renamed) {
		return new Message(this.kind, this.token, renamed, this.othersWait);
	}

	Message pass(Cells cells) {
		return new Message(cells.pass(this.kind, KINDS), cells.pass(this.token), cells.pass(this.fencingToken),
				cells.pass(this.othersWait));
	}

}
