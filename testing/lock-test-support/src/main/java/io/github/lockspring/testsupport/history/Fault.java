package io.github.lockspring.testsupport.history;

/**
 * A fault in a history; a constant of an enum.
 *
 * @since 0.1
 */
public interface Fault {

	/** Returns the name of the constant. */
	String name();

}
