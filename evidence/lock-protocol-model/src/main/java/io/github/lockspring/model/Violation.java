package io.github.lockspring.model;

/**
 * Something that the protocol promises never happens.
 */
public final class Violation extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final String what;

	public Violation(String what) {
		super(what, null, false, false);
		this.what = what;
	}

	public String what() {
		return this.what;
	}

	public static void check(boolean condition, String otherwise) {
		if (!condition) {
			throw new Violation(otherwise);
		}
	}

}
