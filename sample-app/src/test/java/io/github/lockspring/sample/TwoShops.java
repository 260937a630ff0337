package io.github.lockspring.sample;

import java.util.Arrays;
import java.util.stream.Stream;

import io.github.lockspring.fencing.FencingGuard;
import io.github.lockspring.testsupport.process.Conversation;

import org.springframework.boot.SpringApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Two instances of the shop in one JVM: one as it is, and a careless one, with a fence
 * that lets everybody pass, without a check before commits, and that looks only once
 * whether an order is open, before it packs.
 */
final class TwoShops {

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
					Stream.of("--server.port=" + args[1], "--distributed-lock.transaction.verify-before-commit=off"))
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
		SaleService carelessSales(Shelves shelves, JdbcTemplate jdbc, FencingGuard fencingToken, Instance instance) {
			return new SaleService(shelves, jdbc, fencingToken, instance) {

				@Override
				boolean isOpen(Order order) {
					return true;
				}

			};
		}

	}

}
