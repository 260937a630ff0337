package io.github.lockspring.testsupport.network;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
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

	/** Returns one of these ports that is free at this moment. */
	public static int free() {
		while (true) {
			int port = ThreadLocalRandom.current().nextInt(FIRST, LAST);
			try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
				return socket.getLocalPort();
			}
			catch (IOException ex) {
				// taken: another one
			}
		}
	}

}
