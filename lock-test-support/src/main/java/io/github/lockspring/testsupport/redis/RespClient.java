package io.github.lockspring.testsupport.redis;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
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
 * One plain connection to a Redis server, independent of the drivers under test. Answers
 * are String, Long, List or null; an error answer is thrown as {@link RedisError}. Not
 * thread-safe.
 */
public final class RespClient implements AutoCloseable {

	private final Socket socket;

	private final InputStream in;

	public RespClient(int port, Duration timeout) throws IOException {
		this.socket = new Socket();
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
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		bytes.write(("*" + words.length + "\r\n").getBytes(StandardCharsets.UTF_8));
		for (String word : words) {
			byte[] text = word.getBytes(StandardCharsets.UTF_8);
			bytes.write(("$" + text.length + "\r\n").getBytes(StandardCharsets.UTF_8));
			bytes.write(text);
			bytes.write("\r\n".getBytes(StandardCharsets.UTF_8));
		}
		this.socket.getOutputStream().write(bytes.toByteArray());
	}

	/** Reads one answer, or one message of a subscription or MONITOR. */
	public @Nullable Object read() throws IOException {
		String line = readLine();
		String rest = line.substring(1);
		switch (line.charAt(0)) {
			case '+':
				return rest;
			case '-':
				throw new RedisError(rest);
			case ':':
				return Long.valueOf(rest);
			case '$':
				return readBulk(Integer.parseInt(rest));
			case '*':
				int size = Integer.parseInt(rest);
				if (size < 0) {
					return null;
				}
				List<@Nullable Object> list = new ArrayList<>();
				for (int i = 0; i < size; i++) {
					list.add(read());
				}
				return list;
			default:
				throw new IOException("Not an answer: " + line);
		}
	}

	private @Nullable String readBulk(int length) throws IOException {
		if (length < 0) {
			return null;
		}
		byte[] text = this.in.readNBytes(length);
		if (text.length < length) {
			throw new EOFException("Connection closed by the server");
		}
		this.in.skipNBytes(2);
		return new String(text, StandardCharsets.UTF_8);
	}

	private String readLine() throws IOException {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		while (true) {
			int next = this.in.read();
			if (next < 0) {
				throw new EOFException("Connection closed by the server");
			}
			if (next == '\n') {
				return bytes.toString(StandardCharsets.UTF_8);
			}
			if (next != '\r') {
				bytes.write(next);
			}
		}
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

	/** The server answered with an error. */
	public static final class RedisError extends RuntimeException {

		private static final long serialVersionUID = 1L;

		RedisError(String message) {
			super(message);
		}

	}

}
