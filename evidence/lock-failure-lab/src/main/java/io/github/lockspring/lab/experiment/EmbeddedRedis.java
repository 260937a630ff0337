package io.github.lockspring.lab.experiment;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import redis.embedded.RedisExecProvider;

import org.springframework.boot.context.event.ApplicationEnvironmentPreparedEvent;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.ApplicationListener;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;

/**
 * Provides an application with a Redis server, so nothing has to be installed, and says
 * in the property {@code lab.redis.server} which one it is. Uses the server that
 * {@code REDIS_URL} or {@code spring.data.redis.*} names; otherwise the one that another
 * instance has started on the port {@code lab.redis.port}; otherwise starts one there.
 * Does nothing where locks are not on Redis. Your own application does not need this
 * class.
 */
public final class EmbeddedRedis implements ApplicationListener<ApplicationEnvironmentPreparedEvent> {

	private static final int DEFAULT_PORT = 6390;

	/**
	 * Ctrl-C signals a whole process group. The server has one of its own, and the shell
	 * ignores the signal: an instance that stops still needs Redis to release its locks.
	 */
	private static final String KEEPER = """
			trap '' INT HUP
			users=$1
			shift
			rm -f "$users"/*
			start() {
				if command -v setsid > /dev/null; then
					setsid "$@" &
				else
					perl -e 'setpgrp; exec @ARGV' "$@" &
				fi
				server=$!
			}
			start "$@"
			while read -r again; do
				start "$@"
			done
			used() {
				for user in "$users"/*; do
					kill -0 "${user##*/}" 2> /dev/null && return
				done
				return 1
			}
			while used; do
				sleep 1
			done
			kill $server
			rm -rf "$users"
			wait
			""";

	/**
	 * Not closed, since the server stops when the pipe to it is closed.
	 */
	private static volatile @Nullable Process server;

	@Override
	public void onApplicationEvent(ApplicationEnvironmentPreparedEvent event) {
		ConfigurableEnvironment environment = event.getEnvironment();
		if (!environment.getProperty("distributed-lock.store", "redis").equals("redis")) {
			return;
		}
		String url = environment.getProperty("REDIS_URL", "");
		if (!url.isEmpty()) {
			set(environment, Map.of("spring.data.redis.url", url, "lab.redis.server",
					"on the Redis server that REDIS_URL names"));
		}
		else if (isConfigured(environment)) {
			set(environment, Map.of("lab.redis.server", "on the Redis server that spring.data.redis.* names"));
		}
		else {
			int port = environment.getProperty("lab.redis.port", Integer.class, DEFAULT_PORT);
			String text = "on the Redis server on port " + port + ", started by this instance";
			if (answersPing(port)) {
				text = "on the Redis server on port " + port
						+ ", started by another instance, and stops with the last one";
				use(port);
			}
			else {
				server = start(port);
			}
			set(environment, Map.of("spring.data.redis.host", "127.0.0.1", "spring.data.redis.port", port,
					"lab.redis.server", text, "lab.redis.started", server != null));
		}
	}

	private static boolean isConfigured(ConfigurableEnvironment environment) {
		Map<String, Object> settings = Binder.get(environment)
			.bind("spring.data.redis", Bindable.mapOf(String.class, Object.class))
			.orElseGet(Map::of);
		return Stream.of("url", "host", "port", "sentinel", "cluster", "masterreplica").anyMatch(settings::containsKey);
	}

	private static void set(ConfigurableEnvironment environment, Map<String, Object> properties) {
		environment.getPropertySources().addFirst(new MapPropertySource("labRedis", properties));
	}

	/**
	 * Starts a server that stores nothing on disk and accepts local connections only. Its
	 * parent is a shell that ends it when the pipe from this JVM is closed (after the
	 * JVM's shutdown hooks, or when the JVM is killed) and no other instance uses it.
	 */
	static Process start(int port) {
		try {
			String executable = RedisExecProvider.defaultProvider().get().getPath();
			Process process = new ProcessBuilder("sh", "-c", KEEPER, "sh", users(port).toString(), executable, "--bind",
					"127.0.0.1", "--port", String.valueOf(port), "--save", "", "--appendonly", "no")
				.redirectOutput(ProcessBuilder.Redirect.DISCARD)
				.redirectErrorStream(true)
				.start();
			long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
			while (!answersPing(port)) {
				if (System.nanoTime() - deadline > 0) {
					process.getOutputStream().close();
					throw new IllegalStateException("The embedded redis-server did not start on port " + port
							+ ". If something else uses that port, set REDIS_URL to the URL of your own Redis server");
				}
				TimeUnit.MILLISECONDS.sleep(20);
			}
			return process;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Interrupted while the embedded redis-server started", ex);
		}
	}

	/** Returns the redis-server that this instance has started, if it runs. */
	static Optional<ProcessHandle> process() {
		Process keeper = server;
		return (keeper != null) ? process(keeper) : Optional.empty();
	}

	private static Optional<ProcessHandle> process(Process keeper) {
		return keeper.children().filter((child) -> child.info().command().orElse("").contains("redis")).findFirst();
	}

	/** Starts the server of this instance again after it was killed, without data. */
	static void startAgain() {
		Process keeper = server;
		if (keeper != null) {
			try {
				keeper.getOutputStream().write("again\n".getBytes(StandardCharsets.US_ASCII));
				keeper.getOutputStream().flush();
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}
	}

	/** Ends the server of this instance early. */
	static void close() throws IOException {
		Process keeper = server;
		if (keeper != null) {
			server = null;
			keeper.getOutputStream().close();
		}
	}

	/** The files of the instances that use a server, named after their process ids. */
	static Path users(int port) throws IOException {
		return Files.createDirectories(Path.of(System.getProperty("java.io.tmpdir"),
				"lockspring-shop-" + System.getProperty("user.name"), "redis-" + port));
	}

	private static void use(int port) {
		try {
			Path user = users(port).resolve(String.valueOf(ProcessHandle.current().pid()));
			if (Files.notExists(user)) {
				Files.createFile(user);
			}
			user.toFile().deleteOnExit();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	static boolean answersPing(int port) {
		try (Socket socket = new Socket()) {
			socket.connect(new InetSocketAddress("127.0.0.1", port), 500);
			socket.setSoTimeout(500);
			socket.getOutputStream().write("PING\r\n".getBytes(StandardCharsets.US_ASCII));
			return new String(socket.getInputStream().readNBytes(5), StandardCharsets.US_ASCII).equals("+PONG");
		}
		catch (IOException ex) {
			return false;
		}
	}

}
