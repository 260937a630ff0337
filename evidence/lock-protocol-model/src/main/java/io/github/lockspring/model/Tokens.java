package io.github.lockspring.model;

/**
 * Owner tokens as small numbers: the instance, whether the grant that the token carries
 * is short, and a number that is unique among the tokens of this instance that anything
 * still remembers. A token that nothing remembers may be given again, so any number of
 * ownerships fits in a finite number of states.
 */
final class Tokens {

	static final int NONE = 0;

	/** The value of a client that does not know the protocol. */
	static final int PLAIN_CLIENT = 120;

	private static final int PER_INSTANCE = 32;

	/** Numbers from here on belong to tokens that carry a short grant. */
	private static final int SHORT = PER_INSTANCE / 2;

	/** The number of a token that was just made; it is renamed after the step. */
	private static final int NEW = SHORT - 1;

	private Tokens() {
	}

	static int newest(int instance, boolean shortGrant) {
		return of(instance, NEW, shortGrant);
	}

	static int of(int instance, int number, boolean shortGrant) {
		return instance * PER_INSTANCE + (shortGrant ? SHORT : 0) + number;
	}

	/** Whether a token says that its grant may last for half a second only. */
	static boolean isShort(int token) {
		return isOurs(token) && token % PER_INSTANCE >= SHORT;
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
		return (token == PLAIN_CLIENT) ? "plain client"
				: instanceName(instance(token)) + token % SHORT + (isShort(token) ? "s" : "");
	}

	static String instanceName(int instance) {
		return String.valueOf((char) ('A' + instance));
	}

}
