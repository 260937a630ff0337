package io.github.lockspring.lab.web;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.lab.access.PageToken;
import io.github.lockspring.lab.Lab;
import io.github.lockspring.lab.Matrix;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The lab in a context that is switched off, on, and closed.
 */
class LabContextTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner().withUserConfiguration(Lab.class,
			Matrix.class, PageToken.class, LabStreams.class, LabController.class, MatrixController.class);

	@Test
	void labThatIsSwitchedOffHasNoEndpoint() {
		this.runner.withPropertyValues("lab.enabled=false")
			.run((context) -> assertThat(context).doesNotHaveBean(LabController.class)
				.doesNotHaveBean(MatrixController.class)
				.doesNotHaveBean(Lab.class));
	}

	/** Otherwise an open page keeps the sample from ending for half a minute. */
	@Test
	void streamsEndWithTheContext() throws InterruptedException {
		CountDownLatch ended = new CountDownLatch(1);
		this.runner.run((context) -> {
			LabStreams streams = context.getBean(LabStreams.class);
			streams.open("stream", (emitter) -> {
				int look = 1;
				while (streams.breathe(emitter, look)) {
					look++;
				}
				ended.countDown();
			});
		});
		assertThat(ended.await(30, TimeUnit.SECONDS)).isTrue();
	}

}
