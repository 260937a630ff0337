package io.github.lockspring.model;

/**
 * Something that the protocol promises never happens.
 */
final class Violation extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final String what;

	Violation(String what) {
		super(what, null, false, false);
		this.what = what;
	}

	String what() {
		return this.what;
	}

	static void check(boolean condition, String otherwise) {
		if (!condition) {
			throw new Violation(otherwise);
		}
	}

}
