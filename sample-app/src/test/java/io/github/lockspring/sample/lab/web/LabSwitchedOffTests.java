package io.github.lockspring.sample.lab.web;

import io.github.lockspring.sample.lab.Lab;
import io.github.lockspring.sample.lab.Matrix;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

class LabSwitchedOffTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner().withUserConfiguration(Lab.class,
			Matrix.class, LabToken.class, LabStreams.class, LabController.class, MatrixController.class);

	@Test
	void labThatIsSwitchedOffHasNoEndpoint() {
		this.runner.withPropertyValues("lab.enabled=false")
			.run((context) -> assertThat(context).doesNotHaveBean(LabController.class)
				.doesNotHaveBean(MatrixController.class)
				.doesNotHaveBean(Lab.class));
	}

	@Test
	void labIsThereByDefault() {
		this.runner.run((context) -> assertThat(context).hasSingleBean(LabController.class)
			.hasSingleBean(MatrixController.class));
	}

}
