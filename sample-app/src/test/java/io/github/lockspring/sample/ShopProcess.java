package io.github.lockspring.sample;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import io.github.lockspring.testsupport.process.JavaProcess;
import io.github.lockspring.testsupport.redis.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A shop in a JVM of its own.
 */
final class ShopProcess implements AutoCloseable {

	private static final List<String> OPTIONS = List.of("-Xmx128m", "-XX:+UseSerialGC", "-Xshare:auto",
			"-XX:TieredStopAtLevel=1", "-Dh2.bindAddress=127.0.0.1");

	private final Shop shop = new Shop(RedisServer.freePort());

	private final JavaProcess process;

	/**
	 * Starts the shop. Returns at once.
	 * @param directory where its errors go
	 * @param option an option of its JVM
	 * @param main its main class
	 * @param arguments its arguments, except for the port
	 */
	ShopProcess(Path directory, String option, Class<?> main, List<String> arguments) {
		this.process = new JavaProcess(main.getSimpleName(), directory,
				Stream.concat(OPTIONS.stream(), Stream.of(option)).toList(), main,
				Stream.concat(arguments.stream(), Stream.of("--server.port=" + this.shop.port())).toList());
	}

	/** Waits until the shop is open. */
	Shop open() {
		await().atMost(Duration.ofSeconds(90)).ignoreExceptions().until(() -> {
			assertThat(this.process.isAlive()).as("the shop lives").isTrue();
			return this.shop.get("/api/instance").contains("\"port\":" + this.shop.port());
		});
		return this.shop;
	}

	/** Waits for a line of the log. */
	String awaitLine(String text) {
		String line = this.process.hear(Duration.ofSeconds(30));
		while (!line.contains(text)) {
			line = this.process.hear(Duration.ofSeconds(30));
		}
		return line;
	}

	/** Sends a signal, STOP or CONT. */
	void signal(String name) {
		this.process.signal(name);
	}

	@Override
	public void close() {
		this.process.close();
	}

}
