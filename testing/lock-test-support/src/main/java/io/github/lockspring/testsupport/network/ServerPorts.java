package io.github.lockspring.testsupport.network;

import java.util.concurrent.ThreadLocalRandom;

/**
 * Ports for servers of tests. The system gives none of them to a client, so a server that
 * ends gets its port again when it starts.
 *
 * @since 0.1
 */
public final class ServerPorts {

	private static final int FIRST = 10_000;

	/** Linux gives clients ports from 32,768 on, macOS from 49,152 on. */
	private static final int LAST = 32_000;

	private ServerPorts() {
	}

	/** Returns any of these ports, which may be in use. */
	public static int any() {
		return ThreadLocalRandom.current().nextInt(FIRST, LAST);
	}

}
