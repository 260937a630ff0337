package io.github.lockspring.benchmarks.contention;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.api.sync.RedisCommands;
import redis.embedded.RedisExecProvider;

/**
 * A redis-server of the benchmark's own, without persistence, on the loopback interface.
 */
public final class RedisProcess implements AutoCloseable {

	private static final int HIGHEST_PORT = 55_536;

	private final int port;

	private final Process process;

	private final RedisClient client;

	private final StatefulRedisConnection<String, String> connection;

	private RedisProcess(int port, Process process) throws InterruptedException {
		this.port = port;
		this.process = process;
		this.client = RedisClient.create(RedisURI.create("127.0.0.1", port));
		this.connection = connect(this.client);
	}

	public static RedisProcess start(String... config) throws IOException, InterruptedException {
		int port = freePort();
		List<String> command = new ArrayList<>(
				List.of(executable(), "--port", String.valueOf(port), "--bind", "127.0.0.1", "--save", "",
						"--appendonly", "no", "--dir", Files.createTempDirectory("redis").toString()));
		command.addAll(List.of(config));
		return start(port, command);
	}

	/**
	 * Starts a sentinel.
	 * @param config a file that it may write to, with its port
	 */
	public static RedisProcess startSentinel(int port, Path config) throws IOException, InterruptedException {
		return start(port, List.of(executable(), config.toString(), "--sentinel"));
	}

	private static RedisProcess start(int port, List<String> command) throws IOException, InterruptedException {
		Process process = new ProcessBuilder(command).redirectErrorStream(true)
			.redirectOutput(ProcessBuilder.Redirect.DISCARD)
			.start();
		Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
		return new RedisProcess(port, process);
	}

	private static String executable() throws IOException {
		File executable = RedisExecProvider.defaultProvider().get();
		executable.deleteOnExit();
		return executable.getPath();
	}

	private static StatefulRedisConnection<String, String> connect(RedisClient client) throws InterruptedException {
		long start = System.nanoTime();
		while (true) {
			try {
				return client.connect();
			}
			catch (RedisConnectionException ex) {
				if (System.nanoTime() - start > TimeUnit.SECONDS.toNanos(20)) {
					throw ex;
				}
				TimeUnit.MILLISECONDS.sleep(20);
			}
		}
	}

	/**
	 * A free port, low enough for the second port of a cluster's node, which is 10,000
	 * higher.
	 */
	public static int freePort() throws IOException {
		while (true) {
			try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
				if (socket.getLocalPort() < HIGHEST_PORT) {
					return socket.getLocalPort();
				}
			}
		}
	}

	public int port() {
		return this.port;
	}

	public RedisCommands<String, String> commands() {
		return this.connection.sync();
	}

	RedisAsyncCommands<String, String> asyncCommands() {
		return this.connection.async();
	}

	CommandStats stats() {
		return CommandStats.parse(commands().info("commandstats"), commands().info("cpu"));
	}

	public String version() {
		return commands().info("server")
			.lines()
			.filter((line) -> line.startsWith("redis_version:"))
			.map((line) -> line.substring(line.indexOf(':') + 1))
			.findFirst()
			.orElse("unknown");
	}

	@Override
	public void close() {
		this.connection.close();
		this.client.shutdown();
		this.process.destroy();
	}

}
