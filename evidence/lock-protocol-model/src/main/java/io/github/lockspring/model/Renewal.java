package io.github.lockspring.model;

/**
 * A renewal of a lease.
 *
 * @param state how far it is
 * @param token owner token
 * @param sentAge for how long it has been on its way
 * @param ttl the lease that it requests
 * @param renewed its result
 */
record Renewal(State state, int token, int sentAge, int ttl, boolean renewed) {

	/**
	 * How far a renewal is.
	 */
	enum State {

		/** There is none. */
		NONE, SENT, EXECUTED

	}

	private static final State[] STATES = State.values();

	static final Renewal NONE = new Renewal(State.NONE, 0, 0, 0, false);

	Renewal withToken(int renamed) {
		return (renamed != this.token) ? new Renewal(this.state, renamed, this.sentAge, this.ttl, this.renewed) : this;
	}

	Renewal executed(boolean result) {
		return new Renewal(State.EXECUTED, this.token, this.sentAge, this.ttl, result);
	}

	Renewal older(int oldest) {
		return (this.state == State.NONE) ? this
				: new Renewal(this.state, this.token, Math.min(this.sentAge + 1, oldest), this.ttl, this.renewed);
	}

	Renewal pass(Cells cells) {
		State passed = cells.pass(this.state, STATES);
		if (passed == State.NONE) {
			return NONE;
		}
		return new Renewal(passed, cells.pass(this.token), cells.pass(this.sentAge), cells.pass(this.ttl),
				cells.pass(this.renewed));
	}

}
