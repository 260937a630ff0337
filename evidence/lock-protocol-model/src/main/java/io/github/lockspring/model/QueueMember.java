package io.github.lockspring.model;

/**
 * A token in the queue.
 *
 * @param token owner token
 * @param later whether tokens that join now come before it
 */
record QueueMember(int token, boolean later) {

	static final QueueMember NONE = new QueueMember(Tokens.NONE, false);

	QueueMember withToken(int renamed) {
		return new QueueMember(renamed, this.later);
	}

	QueueMember afterTick() {
		return new QueueMember(this.token, false);
	}

	QueueMember pass(Cells cells) {
		return new QueueMember(cells.pass(this.token), cells.pass(this.later));
	}

	@Override
	public String toString() {
		return Tokens.name(this.token);
	}

}
