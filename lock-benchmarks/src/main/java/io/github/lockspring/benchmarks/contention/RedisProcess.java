package io.github.lockspring.benchmarks.contention;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
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

	public static RedisProcess start() throws IOException, InterruptedException {
		int port = freePort();
		File executable = RedisExecProvider.defaultProvider().get();
		executable.deleteOnExit();
		Process process = new ProcessBuilder(executable.getPath(), "--port", String.valueOf(port), "--bind",
				"127.0.0.1", "--save", "", "--appendonly", "no")
			.redirectErrorStream(true)
			.redirectOutput(ProcessBuilder.Redirect.DISCARD)
			.start();
		Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
		return new RedisProcess(port, process);
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

	private static int freePort() throws IOException {
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			return socket.getLocalPort();
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

	String version() {
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
