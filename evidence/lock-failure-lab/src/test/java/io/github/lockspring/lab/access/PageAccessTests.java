package io.github.lockspring.lab.access;

import java.net.URI;
import java.util.function.BiConsumer;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.http.HttpMethod;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.request.RequestPostProcessor;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Who may ask what, on this machine and from another one.
 */
class PageAccessTests {

	private final WebApplicationContextRunner runner = new WebApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(WebMvcAutoConfiguration.class))
		.withUserConfiguration(PageToken.class, PageAccess.class, TokenController.class, Routes.class);

	@Test
	void changesNeedTheTokenAlsoWithoutAnOrigin() {
		run(this.runner, (mvc, token) -> {
			assertThat(mvc.post().uri("/api/change")).hasStatus(403);
			assertThat(mvc.post().uri("/api/change").header("X-Page-Token", "guessed")).hasStatus(403);
			assertThat(mvc.post().uri("/api/change").header("X-Page-Token", token)).hasStatusOk();
			assertThat(mvc.get().uri("/api/change")).hasStatusOk();
		});
	}

	@Test
	void tokenIsForPagesOfThisMachine() {
		run(this.runner, (mvc, token) -> {
			assertThat(mvc.get().uri("/api/token").header("Origin", "http://localhost:8081")).hasStatusOk()
				.hasHeader("Access-Control-Allow-Origin", "http://localhost:8081")
				.hasHeader("X-Content-Type-Options", "nosniff")
				.hasBodyTextEqualTo(token);
			assertThat(mvc.get().uri("/api/token").header("Origin", "http://rival.example")).hasStatus(403);
			assertThat(mvc.get().uri("/api/token").with(name("rebound.example"))).hasStatus(403);
			assertThat(mvc.get().uri("/lab/api/change").with(name("rebound.example"))).hasStatus(403);
		});
	}

	/** The second path is the first one in other words. */
	@ParameterizedTest
	@ValueSource(strings = { "/api/experiments/change", "/api/%65xperiments/change", "/lab/api/change" })
	void whatSignalsProcessesAnswersThisMachineOnly(String path) {
		run(this.runner, (mvc, token) -> {
			assertThat(mvc.get().uri(URI.create(path))).hasStatusOk();
			assertThat(mvc.post().uri(URI.create(path)).header("X-Page-Token", token).with(from("192.0.2.1")))
				.hasStatus(403);
		});
	}

	/** Reached only if somebody has set server.address. */
	@Test
	void shopAnswersOtherMachines() {
		run(this.runner, (mvc, token) -> {
			assertThat(mvc.post().uri("/api/change").with(from("192.0.2.1"))).hasStatus(403);
			assertThat(mvc.post().uri("/api/change").header("X-Page-Token", token).with(from("192.0.2.1")))
				.hasStatusOk();
		});
	}

	@Test
	void remoteAccessOpensTheLabToOtherMachinesThatHaveTheToken() {
		run(this.runner.withPropertyValues("lab.remote-access=true"), (mvc, token) -> {
			assertThat(mvc.get().uri("/lab/api/change").with(from("192.0.2.1")).with(name("lab.example")))
				.hasStatusOk();
			assertThat(mvc.get().uri("/lab/api/change").with(name("lab.example"))).hasStatusOk();
			assertThat(mvc.post().uri("/lab/api/change").with(from("192.0.2.1"))).hasStatus(403);
			assertThat(mvc.post().uri("/lab/api/change").header("X-Page-Token", token).with(from("192.0.2.1")))
				.hasStatusOk();
		});
	}

	private static void run(WebApplicationContextRunner runner, BiConsumer<MockMvcTester, String> test) {
		runner.run((context) -> test.accept(MockMvcTester.from(context), context.getBean(PageToken.class).value()));
	}

	private static RequestPostProcessor from(String address) {
		return (request) -> {
			request.setRemoteAddr(address);
			return request;
		};
	}

	private static RequestPostProcessor name(String name) {
		return (request) -> {
			request.setServerName(name);
			return request;
		};
	}

	@RestController
	static class Routes {

		@RequestMapping({ "/api/change", "/api/experiments/change", "/lab/api/change" })
		String change(HttpMethod method) {
			return "done";
		}

	}

}
