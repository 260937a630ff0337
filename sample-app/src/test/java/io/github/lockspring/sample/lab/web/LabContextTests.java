package io.github.lockspring.sample.lab.web;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.sample.lab.Lab;
import io.github.lockspring.sample.lab.Matrix;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.web.server.ResponseStatusException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The lab in a context that is switched off, on, and closed.
 */
class LabContextTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner().withUserConfiguration(Lab.class,
			Matrix.class, LabToken.class, LabStreams.class, LabController.class, MatrixController.class);

	@Test
	void labThatIsSwitchedOffHasNoEndpoint() {
		this.runner.withPropertyValues("lab.enabled=false")
			.run((context) -> assertThat(context).doesNotHaveBean(LabController.class)
				.doesNotHaveBean(MatrixController.class)
				.doesNotHaveBean(Lab.class));
	}

	/** The token is needed nevertheless. */
	@Test
	void remoteAccessOpensTheLabToOtherMachines() {
		LabToken token = new LabToken();
		MockHttpServletRequest request = new MockHttpServletRequest("GET", "/lab/api/catalogue");
		request.setRemoteAddr("192.0.2.1");
		request.setServerName("lab.example");
		assertThatExceptionOfType(ResponseStatusException.class)
			.isThrownBy(() -> handle(new LabAccess(token, false), request))
			.withMessageContaining("lab.remote-access=true");
		LabAccess open = new LabAccess(token, true);
		assertThat(handle(open, request)).isTrue();
		request.setMethod("POST");
		assertThatExceptionOfType(ResponseStatusException.class).isThrownBy(() -> handle(open, request))
			.withMessageContaining("X-Lab-Token");
		request.addHeader("X-Lab-Token", token.value());
		assertThat(handle(open, request)).isTrue();
	}

	@Test
	void remoteAccessIsAProperty() {
		ApplicationContextRunner access = new ApplicationContextRunner().withUserConfiguration(LabToken.class,
				LabAccess.class);
		MockHttpServletRequest request = new MockHttpServletRequest("GET", "/lab/api/catalogue");
		request.setRemoteAddr("192.0.2.1");
		access.withPropertyValues("lab.remote-access=true")
			.run((context) -> assertThat(handle(context.getBean(LabAccess.class), request)).isTrue());
		access.run((context) -> assertThatExceptionOfType(ResponseStatusException.class)
			.isThrownBy(() -> handle(context.getBean(LabAccess.class), request)));
	}

	private static boolean handle(LabAccess access, MockHttpServletRequest request) {
		return access.preHandle(request, new MockHttpServletResponse(), new Object());
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

	@Test
	void labIsThereByDefault() {
		this.runner.run((context) -> assertThat(context).hasSingleBean(LabController.class)
			.hasSingleBean(MatrixController.class));
	}

}
