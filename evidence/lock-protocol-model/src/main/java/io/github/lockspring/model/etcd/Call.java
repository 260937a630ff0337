package io.github.lockspring.model.etcd;

import io.github.lockspring.model.Cells;

/**
 * A request whose answer an instance waits for.
 *
 * @param stage how far it is
 * @param request the request
 * @param age ticks since it was sent; of a read that proves a renewal, since that was
 * @param past how often a backup had been restored as far as was known when it was sent
 * @param answer the answer on its way
 */
record Call(Stage stage, Request request, int age, int past, Answer answer) {

	/**
	 * How far a request is.
	 */
	enum Stage {

		NONE, SENT, ANSWERED

	}

	private static final Stage[] STAGES = Stage.values();

	static final Call NONE = new Call(Stage.NONE, Request.NONE, 0, 0, Answer.NONE);

	static Call sent(Request request, int past) {
		return new Call(Stage.SENT, request, 0, past, Answer.NONE);
	}

	boolean is(Stage other) {
		return this.stage == other;
	}

	Call answered(Answer answer) {
		return new Call(Stage.ANSWERED, this.request, this.age, this.past, answer);
	}

	Call older(int oldest) {
		return (this.stage == Stage.NONE) ? this
				: new Call(this.stage, this.request, Math.min(this.age + 1, oldest), this.past, this.answer);
	}

	Call renamed(Names names) {
		return (this.stage == Stage.NONE) ? this
				: new Call(this.stage, this.request.renamed(names), this.age, this.past, this.answer.renamed(names));
	}

	Call pass(Cells cells) {
		Stage passed = cells.pass(this.stage, STAGES);
		if (passed == Stage.NONE) {
			return NONE;
		}
		Request sent = this.request.pass(cells);
		int since = cells.pass(this.age);
		int known = cells.pass(this.past);
		return new Call(passed, sent, since, known, (passed == Stage.ANSWERED) ? this.answer.pass(cells) : Answer.NONE);
	}

}
