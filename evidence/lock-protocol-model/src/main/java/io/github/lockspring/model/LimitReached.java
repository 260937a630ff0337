package io.github.lockspring.model;

/**
 * A step leads to a state with more on its way than the model follows.
 */
public final class LimitReached extends RuntimeException {

	private static final long serialVersionUID = 1L;

	public LimitReached() {
		super(null, null, false, false);
	}

}
