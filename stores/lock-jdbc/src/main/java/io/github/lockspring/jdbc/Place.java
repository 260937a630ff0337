package io.github.lockspring.jdbc;

/**
 * The place of a token in the queue, as known from the attempts of this process.
 * Thread-safe.
 */
final class Place {

	private volatile State state = State.NONE;

	/** An attempt begins to insert the token's row. */
	void joining() {
		this.state = State.UNCERTAIN;
	}

	/** An attempt has inserted the row and marked the row of the lock afterwards. */
	void marked() {
		this.state = State.MARKED;
	}

	/**
	 * Returns whether the queue may contain the token.
	 */
	boolean mayHaveRow() {
		return this.state != State.NONE;
	}

	/**
	 * Returns whether every release finds the row of the token, if it still exists.
	 */
	boolean isMarked() {
		return this.state == State.MARKED;
	}

	private enum State {

		NONE, UNCERTAIN, MARKED

	}

}
