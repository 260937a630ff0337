package io.github.lockspring.model;

/**
 * A command that is on its way without anything that waits for its result: a release in
 * the background, or a command that timed out, or that the driver sends twice. It is
 * executed at any later time.
 *
 * @param kind which script
 * @param token owner token
 * @param lastFencingToken last fencing token used, of a release
 * @param known whether its instance still knows the token, until the release has ended
 */
record Command(Kind kind, int token, int lastFencingToken, boolean known) {

	/**
	 * The scripts.
	 */
	enum Kind {

		/** An acquire attempt of a caller that waits. */
		ACQUIRE,
		/** An acquire attempt of a caller that does not wait. */
		ACQUIRE_ONCE, RELEASE

	}

	private static final Kind[] KINDS = Kind.values();

	static final Command NONE = new Command(Kind.RELEASE, 0, 0, false);

	Command withToken(int renamed) {
		return new Command(this.kind, renamed, this.lastFencingToken, this.known);
	}

	Command withLastFencingToken(int renamed) {
		return new Command(this.kind, this.token, renamed, this.known);
	}

	Command pass(Cells cells) {
		return new Command(cells.pass(this.kind, KINDS), cells.pass(this.token), cells.pass(this.lastFencingToken),
				cells.pass(this.known));
	}

	@Override
	public String toString() {
		return ((this.kind == Kind.RELEASE) ? "release of " : "acquire of ") + Tokens.name(this.token);
	}

	/**
	 * How an acquire attempt waits.
	 */
	enum QueueMode {

		/** Does not wait. */
		NONE,
		/** First attempt of a token that waits. */
		JOIN,
		/** Later attempt. */
		REJOIN,
		/** Attempt of a token that polls. */
		POLL

	}

}
