package io.github.lockspring.model;

/**
 * A command that is on its way and is executed at any later time: a release, or an
 * acquire attempt that timed out, or that the driver sends twice.
 *
 * @param kind which script
 * @param token owner token
 * @param lastFencingToken last fencing token used, of a release
 */
record Command(Kind kind, int token, int lastFencingToken) {

	/**
	 * The scripts.
	 */
	enum Kind {

		/** An acquire attempt with the queue. */
		ACQUIRE_QUEUED,
		/** An acquire attempt without the queue. */
		ACQUIRE, RELEASE

	}

	private static final Kind[] KINDS = Kind.values();

	static final Command NONE = new Command(Kind.RELEASE, 0, 0);

	static Command acquire(int token, boolean queue) {
		return new Command(queue ? Kind.ACQUIRE_QUEUED : Kind.ACQUIRE, token, 0);
	}

	static Command release(int token, int lastFencingToken) {
		return new Command(Kind.RELEASE, token, lastFencingToken);
	}

	boolean isRelease() {
		return this.kind == Kind.RELEASE;
	}

	Command withToken(int renamed) {
		return new Command(this.kind, renamed, this.lastFencingToken);
	}

	Command withLastFencingToken(int renamed) {
		return new Command(this.kind, this.token, renamed);
	}

	Command pass(Cells cells) {
		return new Command(cells.pass(this.kind, KINDS), cells.pass(this.token), cells.pass(this.lastFencingToken));
	}

	@Override
	public String toString() {
		return (isRelease() ? "release of " : "acquire of ") + Tokens.name(this.token);
	}

}
