package io.github.lockspring.model.etcd;

import io.github.lockspring.model.Cells;

/**
 * What the server answers.
 *
 * @param outcome what became of the request
 * @param name the entry that has the name of the instance after it, or that was watched
 * @param first whether that is the first of the queue
 * @param before the entry before it
 * @param guard the guard after it
 * @param term of the leader
 * @param past how often a backup had been restored
 */
record Answer(Outcome outcome, Entry name, boolean first, Entry before, Guard guard, int term, int past) {

	/**
	 * The outcome of a request.
	 */
	enum Outcome {

		/** It was carried out. */
		DONE,
		/** An addition names another modification of the guard. */
		GUARD_DIFFERS,
		/** The lease is not known. */
		NO_LEASE,
		/** The name of an entry to add is taken. */
		TAKEN,
		/** The entry that it is about is gone. */
		GONE

	}

	private static final Outcome[] OUTCOMES = Outcome.values();

	static final Answer NONE = new Answer(Outcome.DONE, Entry.NONE, false, Entry.NONE, Guard.NONE, 0, 0);

	/** Without what those who ask for this do not look at. */
	Answer about(Request.Type type) {
		return switch (type) {
			case ADD, PLACE -> switch (this.outcome) {
				case DONE -> new Answer(this.outcome, this.name, this.first, this.before, Guard.NONE, 0, this.past);
				case TAKEN -> new Answer(this.outcome, this.name, false, Entry.NONE, Guard.NONE, 0, this.past);
				case GUARD_DIFFERS -> new Answer(this.outcome, Entry.NONE, false, Entry.NONE, this.guard, 0, this.past);
				case GONE, NO_LEASE ->
					new Answer(this.outcome, Entry.NONE, false, Entry.NONE, Guard.NONE, 0, this.past);
			};
			case RAISE, KEEP -> new Answer(this.outcome, this.name, false, Entry.NONE, Guard.NONE, 0, this.past);
			default -> new Answer(this.outcome, this.name, false, Entry.NONE, this.guard, 0, this.past);
		};
	}

	Answer of(int otherPast) {
		return new Answer(this.outcome, this.name, this.first, this.before, this.guard, this.term, otherPast);
	}

	Answer renamed(Names names) {
		return new Answer(this.outcome, this.name.renamed(names), this.first, this.before.renamed(names),
				this.guard.renamed(names), this.term, this.past);
	}

	Answer pass(Cells cells) {
		return new Answer(cells.pass(this.outcome, OUTCOMES), this.name.pass(cells), cells.pass(this.first),
				this.before.pass(cells), this.guard.pass(cells), cells.pass(this.term), cells.pass(this.past));
	}

}
