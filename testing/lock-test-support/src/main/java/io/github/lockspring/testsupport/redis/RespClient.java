package io.github.lockspring.testsupport.redis;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A plain connection to a Redis server, independent of the drivers under test. Answers
 * are String, Long, List or null; an error answer is thrown as {@link RedisError}. Not
 * thread-safe.
 *
 * @since 0.1
 */
public final class RespClient implements AutoCloseable {

	private final Socket socket = new Socket();

	private final InputStream in;

	/**
	 * Connects.
	 * @param port a port of the loopback interface
	 * @param timeout the longest time to wait for the connection, and for each answer
	 */
	public RespClient(int port, Duration timeout) throws IOException {
		int millis = (int) timeout.toMillis();
		this.socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), millis);
		this.socket.setSoTimeout(millis);
		this.socket.setTcpNoDelay(true);
		this.in = new BufferedInputStream(this.socket.getInputStream());
	}

	/** Sends a command and waits for its answer. */
	public @Nullable Object command(String... words) {
		try {
			send(words);
			return read();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Sends a command without waiting for its answer. */
	public void send(String... words) throws IOException {
		StringBuilder text = new StringBuilder("*" + words.length + "\r\n");
		for (String word : words) {
			text.append('$').append(word.getBytes(StandardCharsets.UTF_8).length).append("\r\n");
			text.append(word).append("\r\n");
		}
		this.socket.getOutputStream().write(text.toString().getBytes(StandardCharsets.UTF_8));
	}

	/** Reads one answer, or one message of a subscription or MONITOR. */
	public @Nullable Object read() throws IOException {
		String line = readLine();
		String rest = line.substring(1);
		return switch (line.charAt(0)) {
			case '+' -> rest;
			case '-' -> throw new RedisError(rest);
			case ':' -> Long.valueOf(rest);
			case '$' -> readBulk(Integer.parseInt(rest));
			case '*' -> readList(Integer.parseInt(rest));
			default -> throw new IOException("Not an answer: " + line);
		};
	}

	private @Nullable List<@Nullable Object> readList(int size) throws IOException {
		if (size < 0) {
			return null;
		}
		List<@Nullable Object> list = new ArrayList<>();
		for (int i = 0; i < size; i++) {
			list.add(read());
		}
		return list;
	}

	private @Nullable String readBulk(int length) throws IOException {
		if (length < 0) {
			return null;
		}
		byte[] text = this.in.readNBytes(length + 2);
		if (text.length < length + 2) {
			throw new EOFException("Connection closed by the server");
		}
		return new String(text, 0, length, StandardCharsets.UTF_8);
	}

	private String readLine() throws IOException {
		StringBuilder line = new StringBuilder();
		int next;
		while ((next = this.in.read()) != '\n') {
			if (next < 0) {
				throw new EOFException("Connection closed by the server");
			}
			line.append((char) next);
		}
		return line.substring(0, line.length() - 1);
	}

	@Override
	public void close() {
		try {
			this.socket.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * An error answer of the server.
	 *
	 * @since 0.1
	 */
	public static final class RedisError extends RuntimeException {

		private static final long serialVersionUID = 1L;

		RedisError(String message) {
			super(message);
		}

	}

}
