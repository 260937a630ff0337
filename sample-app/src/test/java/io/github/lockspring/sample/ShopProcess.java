package io.github.lockspring.sample;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * {@link TwoShops} in a JVM of their own, so that it can be stopped. Does not outlive
 * this JVM.
 */
final class ShopProcess implements AutoCloseable {

	private final int carefulPort = TestRedis.freePort();

	private final int carelessPort = TestRedis.freePort();

	private final Path log;

	private final Process process;

	private final Thread killer;

	/**
	 * Starts them. Does not wait for it.
	 * @param log where their output goes
	 * @param arguments their arguments, except for the ports
	 */
	ShopProcess(Path log, List<String> arguments) {
		List<String> command = new ArrayList<>(
				List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx128m",
						"-XX:+UseSerialGC", "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-Dh2.bindAddress=127.0.0.1",
						"-cp", System.getProperty("java.class.path"), TwoShops.class.getName(),
						String.valueOf(this.carefulPort), String.valueOf(this.carelessPort)));
		command.addAll(arguments);
		this.log = log;
		try {
			this.process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		// one that stands still does not see that the test is gone
		this.killer = new Thread(this.process::destroyForcibly);
		Runtime.getRuntime().addShutdownHook(this.killer);
	}

	/** Waits until it is open. */
	Shop careful() {
		return open(this.carefulPort);
	}

	/** Waits until it is open. */
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

	/**
	 * What they have written so far.
	 */
	String log() throws IOException {
		return Files.readString(this.log);
	}

	/**
	 * Sends a signal.
	 * @param name STOP or CONT
	 */
	void signal(String name) {
		try {
			int exit = new ProcessBuilder("kill", "-" + name, String.valueOf(this.process.pid())).start().waitFor();
			assertThat(exit).as("kill -" + name).isZero();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public void close() {
		this.process.destroyForcibly();
		this.process.onExit().join();
		Runtime.getRuntime().removeShutdownHook(this.killer);
	}

}
