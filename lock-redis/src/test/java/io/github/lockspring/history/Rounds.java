package io.github.lockspring.history;

/**
 * How long the history tests of topologies are: short in the build, at length with
 * {@code mvn -Ptopologies -pl lock-spring-boot-autoconfigure test}.
 */
final class Rounds {

	static final String PROPERTY = "lockspring.topology.rounds";

	/** A test that shows only that another one can fail gives up after so many. */
	static final int MOST_NEEDED = 20;

	private static final int GIVEN = Integer.getInteger(PROPERTY, 0);

	private Rounds() {
	}

	/** How many faults of servers are made. */
	static int orFew(int few) {
		return (GIVEN > 0) ? GIVEN : few;
	}

	/** How many processes lock. */
	static int workers() {
		return (GIVEN > 0) ? 4 : 2;
	}

}
