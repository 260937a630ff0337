package io.github.lockspring.sample;

import io.github.lockspring.sample.lab.worker.WorkerMain;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.scheduling.annotation.EnableScheduling;

/**
 * Starts the shop. Run it twice, with different ports, to see two instances share their
 * locks. Good places to begin reading: {@link OrderService}, {@link SaleService},
 * {@link StockService}, {@link ReportJob}.
 */
@SpringBootApplication
@EnableScheduling
public class SampleApplication {

	public static void main(String[] args) {
		if (args.length > 0 && args[0].equals(WorkerMain.ARGUMENT)) {
			WorkerMain.run();
			return;
		}
		// the instance that serves the shop's database to the others accepts local
		// connections only
		System.setProperty("h2.bindAddress", "127.0.0.1");
		SpringApplication application = new SpringApplication(SampleApplication.class);
		application.addListeners(new EmbeddedRedis());
		application.run(args);
	}

}
