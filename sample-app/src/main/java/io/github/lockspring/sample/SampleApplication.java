package io.github.lockspring.sample;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.scheduling.annotation.EnableScheduling;

/**
 * The shop. Start it twice, with different ports, to see two instances share their locks.
 * Good places to begin reading: {@link OrderService}, {@link SaleService},
 * {@link StockService}, {@link ReportJob}.
 */
@SpringBootApplication
@EnableScheduling
public class SampleApplication {

	public static void main(String[] args) {
		// whoever serves the shop's database to the others listens on this machine only
		System.setProperty("h2.bindAddress", "127.0.0.1");
		SpringApplication application = new SpringApplication(SampleApplication.class);
		application.addListeners(new EmbeddedRedis());
		application.run(args);
	}

}
