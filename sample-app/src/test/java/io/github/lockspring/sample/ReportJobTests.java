package io.github.lockspring.sample;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import io.github.lockspring.testsupport.redis.RedisServer;
import org.junit.jupiter.api.Test;

import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

class ReportJobTests {

	private final RedisServer redis = RedisServer.start();

	@Test
	void runsOnOneOfTwoInstancesAndNotOnTheOtherOneAfterIt() {
		try (ConfigurableApplicationContext one = instance(); ConfigurableApplicationContext two = instance()) {
			List<ReportJob> jobs = Stream.of(one, two).map((instance) -> instance.getBean(ReportJob.class)).toList();
			jobs.stream().map((job) -> CompletableFuture.runAsync(job::run)).toList().forEach(CompletableFuture::join);
			jobs.forEach(ReportJob::run);
			assertThat(jobs.get(0).lastRuns()).hasSize(1);
		}
	}

	private ConfigurableApplicationContext instance() {
		return new SpringApplicationBuilder(SampleApplication.class).run("--server.port=0",
				"--spring.datasource.url=jdbc:h2:mem:reports;DB_CLOSE_DELAY=-1", "--spring.data.redis.host=127.0.0.1",
				"--spring.data.redis.port=" + this.redis.port(), "--shop.report.cron=-", "--shop.report.min-hold=30s");
	}

}
