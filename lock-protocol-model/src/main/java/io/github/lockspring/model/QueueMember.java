package io.github.lockspring.model;

/**
 * A token in the queue.
 *
 * @param token owner token
 * @param polls whether it finds its grant by attempts instead of a message
 * @param later whether tokens that join now come before it
 */
record QueueMember(int token, boolean polls, boolean later) {

	static final QueueMember NONE = new QueueMember(Tokens.NONE, false, false);

	QueueMember withToken(int renamed) {
		return new QueueMember(renamed, this.polls, this.later);
	}

	QueueMember afterTick() {
		return new QueueMember(this.token, this.polls, false);
	}

	QueueMember pass(Cells cells) {
		return new QueueMember(cells.pass(this.token), cells.pass(this.polls), cells.pass(this.later));
	}

	@Override
	public String toString() {
		return Tokens.name(this.token) + (this.polls ? ".polls" : "");
	}

}
