package io.github.lockspring.sample;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.github.lockspring.testsupport.process.JavaProcess;
import io.github.lockspring.testsupport.redis.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * {@link TwoShops} in a JVM of their own, so that they can be stopped.
 */
final class ShopProcess implements AutoCloseable {

	private static final List<String> OPTIONS = List.of("-Xmx128m", "-XX:+UseSerialGC", "-Xshare:auto",
			"-XX:TieredStopAtLevel=1", "-Dh2.bindAddress=127.0.0.1");

	private final int carefulPort = RedisServer.freePort();

	private final int carelessPort = RedisServer.freePort();

	private final Path log;

	private final JavaProcess process;

	/**
	 * Starts the shops. Returns at once.
	 * @param directory where their output goes
	 * @param shared their arguments, except for the ports
	 */
	ShopProcess(Path directory, List<String> shared) {
		List<String> arguments = new ArrayList<>(
				List.of(String.valueOf(this.carefulPort), String.valueOf(this.carelessPort)));
		arguments.addAll(shared);
		this.process = new JavaProcess("shops", directory, OPTIONS, TwoShops.class, arguments);
		this.log = directory.resolve("shops.log");
	}

	/** Waits until the careful shop is open. */
	Shop careful() {
		return open(this.carefulPort);
	}

	/** Waits until the careless shop is open. */
	Shop careless() {
		return open(this.carelessPort);
	}

	private Shop open(int port) {
		Shop shop = new Shop(port);
		await().atMost(Duration.ofSeconds(90)).ignoreExceptions().until(() -> {
			assertThat(this.process.isAlive()).as("the shop lives; see " + this.log).isTrue();
			return shop.get("/api/instance").contains("\"port\":" + port);
		});
		return shop;
	}

	/** Returns what the shops have written so far. */
	String log() throws IOException {
		return Files.readString(this.log);
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
