package io.github.lockspring.lab.server;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A connection to a Redis server, in the protocol RESP 2. Connects at the first command,
 * and again after a failure. Not thread-safe.
 */
public final class RedisConnection implements AutoCloseable {

	private final int port;

	private final Duration timeout;

	private @Nullable Socket socket;

	/**
	 * Creates a connection. Does not connect.
	 * @param port the port of the server on the loopback interface
	 * @param timeout the maximum wait for an answer
	 */
	public RedisConnection(int port, Duration timeout) {
		this.port = port;
		this.timeout = timeout;
	}

	/**
	 * Sends a command and waits for its answer.
	 * @param command the command and its arguments
	 * @return a {@code String}, a {@code Long}, a {@code List}, or null for nil
	 * @throws IOException if the server cannot be reached or does not answer in time
	 * @throws RedisErrorException if the answer is an error
	 */
	public @Nullable Object call(String... command) throws IOException {
		try {
			Socket connected = connect();
			connected.getOutputStream().write(encode(command));
			return read(new Input(connected.getInputStream()));
		}
		catch (IOException ex) {
			close();
			throw ex;
		}
	}

	private Socket connect() throws IOException {
		Socket present = this.socket;
		if (present != null) {
			return present;
		}
		Socket connected = new Socket();
		this.socket = connected;
		connected.setTcpNoDelay(true);
		connected.setSoTimeout((int) this.timeout.toMillis());
		connected.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), this.port),
				(int) this.timeout.toMillis());
		return connected;
	}

	private static byte[] encode(String... command) {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		bytes.writeBytes(ascii("*" + command.length + "\r\n"));
		for (String word : command) {
			byte[] text = word.getBytes(StandardCharsets.UTF_8);
			bytes.writeBytes(ascii("$" + text.length + "\r\n"));
			bytes.writeBytes(text);
			bytes.writeBytes(ascii("\r\n"));
		}
		return bytes.toByteArray();
	}

	private static byte[] ascii(String text) {
		return text.getBytes(StandardCharsets.US_ASCII);
	}

	private static @Nullable Object read(Input in) throws IOException {
		String line = in.line();
		String rest = line.substring(1);
		return switch (line.charAt(0)) {
			case '+' -> rest;
			case '-' -> throw new RedisErrorException(rest);
			case ':' -> Long.valueOf(rest);
			case '$' -> rest.equals("-1") ? null : in.text(Integer.parseInt(rest));
			case '*' -> rest.equals("-1") ? null : list(in, Integer.parseInt(rest));
			default -> throw new IOException("The server answered '" + line + "', which is no RESP");
		};
	}

	private static List<@Nullable Object> list(Input in, int size) throws IOException {
		List<@Nullable Object> list = new ArrayList<>();
		for (int i = 0; i < size; i++) {
			list.add(read(in));
		}
		return list;
	}

	@Override
	public void close() {
		Socket present = this.socket;
		this.socket = null;
		if (present != null) {
			try {
				present.close();
			}
			catch (IOException ex) {
				// it is gone in either case
			}
		}
	}

	/**
	 * An answer of the server that is an error, such as {@code OOM}.
	 */
	public static final class RedisErrorException extends IOException {

		private static final long serialVersionUID = 1L;

		RedisErrorException(String message) {
			super(message);
		}

	}

	private record Input(InputStream stream) {

		Input(InputStream stream) {
			this.stream = new BufferedInputStream(stream);
		}

		String line() throws IOException {
			ByteArrayOutputStream bytes = new ByteArrayOutputStream();
			int read;
			while ((read = this.stream.read()) != '\r') {
				if (read < 0) {
					throw new EOFException("The server closed the connection");
				}
				bytes.write(read);
			}
			this.stream.read();
			return bytes.toString(StandardCharsets.UTF_8);
		}

		String text(int length) throws IOException {
			String text = new String(this.stream.readNBytes(length), StandardCharsets.UTF_8);
			this.stream.readNBytes(2);
			return text;
		}

	}

}
