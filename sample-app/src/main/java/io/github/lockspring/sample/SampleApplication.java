package io.github.lockspring.sample;

import io.github.lockspring.lab.FailureLab;
import io.github.lockspring.lab.experiment.EmbeddedRedis;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Import;
import org.springframework.scheduling.annotation.EnableScheduling;

/**
 * Starts the shop. Run it twice on different ports to see two instances share their
 * locks. Start reading with {@link OrderService}, {@link StockService} and
 * {@link ReportJob}. The failure lab (the first page) and the embedded Redis are for
 * demonstration only: a copy of this application needs neither.
 */
@SpringBootApplication
@EnableScheduling
@Import(FailureLab.class)
public class SampleApplication {

	public static void main(String[] args) {
		// the instance that serves the database to the others accepts only local
		// connections
		System.setProperty("h2.bindAddress", "127.0.0.1");
		SpringApplication application = new SpringApplication(SampleApplication.class);
		application.addListeners(new EmbeddedRedis());
		application.run(args);
	}

}
