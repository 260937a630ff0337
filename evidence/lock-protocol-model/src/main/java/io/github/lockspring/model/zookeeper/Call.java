package io.github.lockspring.model.zookeeper;

import io.github.lockspring.model.Cells;

/**
 * A request whose answer an instance waits for.
 *
 * @param stage how far it is
 * @param request the request
 * @param age ticks since it was sent
 * @param node the own node that the server read or made; none: there is none
 * @param first whether that is the first
 */
record Call(Stage stage, Request request, int age, Node node, boolean first) {

	/**
	 * How far a request is.
	 */
	enum Stage {

		NONE, SENT, ANSWERED

	}

	private static final Stage[] STAGES = Stage.values();

	static final Call NONE = new Call(Stage.NONE, Request.NONE, 0, Node.NONE, false);

	static Call sent(Request request) {
		return new Call(Stage.SENT, request, 0, Node.NONE, false);
	}

	boolean is(Stage other) {
		return this.stage == other;
	}

	Call answered(Node read, boolean isFirst) {
		return new Call(Stage.ANSWERED, this.request, this.age, read, isFirst);
	}

	Call older(int oldest) {
		return is(Stage.NONE) ? this
				: new Call(this.stage, this.request, Math.min(this.age + 1, oldest), this.node, this.first);
	}

	Call renamed(Names names) {
		return is(Stage.NONE) ? this
				: new Call(this.stage, this.request.renamed(names), this.age, this.node.renamed(names), this.first);
	}

	Call pass(Cells cells) {
		Stage passed = cells.pass(this.stage, STAGES);
		if (passed == Stage.NONE) {
			return NONE;
		}
		return new Call(passed, this.request.pass(cells), cells.pass(this.age), this.node.pass(cells),
				cells.pass(this.first));
	}

}
