package io.github.lockspring.model.etcd;

import io.github.lockspring.model.Cells;

/**
 * A request whose answer an instance waits for.
 *
 * @param stage how far it is
 * @param request the request
 * @param age ticks since it was sent; of a read that proves a renewal, since that was
 * @param answer the answer on its way
 */
record Call(Stage stage, Request request, int age, Answer answer) {

	/**
	 * How far a request is.
	 */
	enum Stage {

		NONE, SENT, ANSWERED

	}

	private static final Stage[] STAGES = Stage.values();

	static final Call NONE = new Call(Stage.NONE, Request.NONE, 0, Answer.NONE);

	static Call sent(Request request) {
		return new Call(Stage.SENT, request, 0, Answer.NONE);
	}

	boolean is(Stage other) {
		return this.stage == other;
	}

	Call answered(Answer answer) {
		return new Call(Stage.ANSWERED, this.request, this.age, answer);
	}

	Call older(int oldest) {
		return (this.stage == Stage.NONE) ? this
				: new Call(this.stage, this.request, Math.min(this.age + 1, oldest), this.answer);
	}

	Call renamed(Names names) {
		return (this.stage == Stage.NONE) ? this
				: new Call(this.stage, this.request.renamed(names), this.age, this.answer.renamed(names));
	}

	Call pass(Cells cells) {
		Stage passed = cells.pass(this.stage, STAGES);
		if (passed == Stage.NONE) {
			return NONE;
		}
		Request sent = this.request.pass(cells);
		int since = cells.pass(this.age);
		return new Call(passed, sent, since, (passed == Stage.ANSWERED) ? this.answer.pass(cells) : Answer.NONE);
	}

}
