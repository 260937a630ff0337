package io.github.lockspring.model;

/**
 * Owner tokens as small numbers: the instance, and a number that is unique among the
 * tokens of this instance that anything still remembers. A token that nothing remembers
 * may be given again, so any number of ownerships fits in a finite number of states.
 */
final class Tokens {

	static final int NONE = 0;

	/** The value of a client that does not know the protocol. */
	static final int PLAIN_CLIENT = 120;

	private static final int PER_INSTANCE = 16;

	/** The number of a token that was just made; it is renamed after the step. */
	private static final int NEW = PER_INSTANCE - 1;

	private Tokens() {
	}

	static int newest(int instance) {
		return of(instance, NEW);
	}

	static int of(int instance, int number) {
		return instance * PER_INSTANCE + number;
	}

	static int instance(int token) {
		return token / PER_INSTANCE;
	}

	static boolean isOurs(int token) {
		return token != NONE && token != PLAIN_CLIENT;
	}

	static String name(int token) {
		if (token == NONE) {
			return "-";
		}
		return (token == PLAIN_CLIENT) ? "plain client" : instanceName(instance(token)) + token % PER_INSTANCE;
	}

	static String instanceName(int instance) {
		return String.valueOf((char) ('A' + instance));
	}

}
