package io.github.lockspring.sample;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

import io.github.lockspring.FencingGuard;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.testsupport.process.Conversation;
import io.github.lockspring.testsupport.process.JavaProcess;
import io.github.lockspring.testsupport.redis.RedisServer;

import org.springframework.boot.SpringApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.core.JdbcTemplate;

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
		// two applications start, one after the other
		await().atMost(Duration.ofSeconds(150)).ignoreExceptions().until(() -> {
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

	/**
	 * Two instances of the shop in one JVM: one as it is, and a careless one, with a
	 * fence that lets everybody pass, without a check before commits, and that looks only
	 * once whether an order is open, before it packs.
	 */
	static final class TwoShops {

		private TwoShops() {
		}

		/**
		 * Opens them.
		 * @param args the port of each, and the arguments of both
		 */
		public static void main(String[] args) {
			new Conversation();
			Stream<String> shared = Arrays.stream(args).skip(2);
			String[] careful = Stream.concat(shared, Stream.of("--server.port=" + args[0])).toArray(String[]::new);
			new SpringApplication(SampleApplication.class).run(careful);
			shared = Arrays.stream(args).skip(2);
			String[] careless = Stream
				.concat(shared,
						Stream.of("--server.port=" + args[1],
								"--distributed-lock.transaction.verify-before-commit=off"))
				.toArray(String[]::new);
			new SpringApplication(SampleApplication.class, Careless.class).run(careless);
		}

		/** No component, or every shop of the tests would have it. */
		static class Careless {

			@Bean
			FencingGuard noFencingToken() {
				return (resource, token) -> {
				};
			}

			@Bean
			@Primary
			StockService carelessStock(JdbcTemplate jdbc, FencingGuard fencingToken, LockTemplate locks,
					Instance instance) {
				return new StockService(jdbc, fencingToken, locks, instance) {

					@Override
					boolean isOpen(Order order) {
						return true;
					}

				};
			}

		}

	}

}
