package io.github.lockspring.testsupport.network;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

/**
 * Ports for servers of tests. The system gives none of them to a client, so a server that
 * ends gets its port again when it starts. Each JVM has ports of its own: another one
 * could otherwise take a port between its choice and its use.
 *
 * @since 0.1
 */
public final class ServerPorts {

	private static final int FIRST = 10_000;

	/** Of each JVM. Linux gives clients ports from 32,768 on, macOS from 49,152 on. */
	private static final int COUNT = 400;

	private static final int JVMS = 55;

	private static final AtomicInteger NEXT = new AtomicInteger();

	private static final Block OWN = own();

	private ServerPorts() {
	}

	private static Block own() {
		int start = ThreadLocalRandom.current().nextInt(JVMS);
		for (int i = 0; i < JVMS; i++) {
			int number = (start + i) % JVMS;
			FileLock lock = lock(number);
			if (lock != null) {
				return new Block(FIRST + number * COUNT, lock);
			}
		}
		throw new IllegalStateException("All ports for tests are in use");
	}

	private static @Nullable FileLock lock(int number) {
		Path directory = Path.of(System.getProperty("java.io.tmpdir"), "lockspring-ports");
		try {
			FileChannel file = FileChannel.open(Files.createDirectories(directory).resolve(String.valueOf(number)),
					StandardOpenOption.CREATE, StandardOpenOption.WRITE);
			FileLock lock = null;
			try {
				lock = file.tryLock();
			}
			catch (OverlappingFileLockException ex) {
				// this class was loaded twice
			}
			if (lock == null) {
				file.close();
			}
			return lock;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Returns one of these ports that is free at this moment. */
	public static int free() {
		while (true) {
			int port = OWN.first() + NEXT.getAndIncrement() % COUNT;
			try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
				return socket.getLocalPort();
			}
			catch (IOException ex) {
				// taken: another one
			}
		}
	}

	/**
	 * The ports of this JVM.
	 *
	 * @param first the first of them
	 * @param lock keeps other JVMs away, until this one ends
	 */
	private record Block(int first, FileLock lock) {
	}

}
