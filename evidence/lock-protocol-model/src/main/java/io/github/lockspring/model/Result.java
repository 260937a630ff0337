package io.github.lockspring.model;

/**
 * The result of an acquire attempt.
 *
 * @param acquired whether the token owns the lock
 * @param fencingToken its fencing token; of a busy result, the last one
 */
record Result(boolean acquired, int fencingToken) {

	static final Result NONE = new Result(false, 0);

	static Result acquired(int fencingToken) {
		return new Result(true, fencingToken);
	}

	static Result busy(int lastFencingToken) {
		return new Result(false, lastFencingToken);
	}

	Result pass(Cells cells) {
		return new Result(cells.pass(this.acquired), cells.pass(this.fencingToken));
	}

}
