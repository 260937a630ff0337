package io.github.lockspring.sample;

import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.test.AutoConfigureDistributedLocks;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The endpoint over HTTP, as people ask it.
 */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT,
		properties = { "shop.report.cron=-", "spring.datasource.url=jdbc:h2:mem:endpoint;DB_CLOSE_DELAY=-1",
				"management.endpoint.distributedlocks.access=unrestricted" })
@AutoConfigureDistributedLocks
class LocksEndpointTests {

	private static final HttpClient CLIENT = HttpClient.newHttpClient();

	@LocalServerPort
	private int port;

	@Autowired
	private LockTemplate locks;

	@ParameterizedTest
	@ValueSource(strings = { "order:42", "a/b", "a//b/", "/a", "Größe 7 m²", "a b+c%20&d=e?f;g#h", "..", "\\\"<x>" })
	void eachKeyIsShownAndReleased(String key) throws Exception {
		HeldLock lock = this.locks.acquire(LockRequest.of(key));
		HttpResponse<String> shown = send("GET", key);
		assertThat(shown.statusCode()).isEqualTo(200);
		assertThat(shown.body()).contains("\"key\":\"" + key.replace("\\", "\\\\").replace("\"", "\\\"") + "\"")
			.contains("\"held\":true")
			.contains("\"fencingToken\":" + lock.fencingToken())
			.contains("\"leaseLeft\":\"PT");
		assertThat(send("DELETE", key).statusCode()).isEqualTo(200);
		assertThat(lock.isHeld()).isFalse();
		HttpResponse<String> again = send("DELETE", key);
		assertThat(again.statusCode()).isEqualTo(404);
		assertThat(again.body()).contains("\"reason\":\"Lock '");
	}

	@Test
	void pageOfLocksIsShownAndAWrongPageRefused() throws Exception {
		this.locks.acquire(LockRequest.of("order:page"));
		assertThat(send(request("GET", "?page=0&size=10")).body()).contains("\"held\":1")
			.contains("\"total\":1")
			.contains("\"key\":\"order:page\"");
		assertThat(send(request("GET", "?size=0")).statusCode()).isEqualTo(400);
		assertThat(send(request("DELETE", "")).statusCode()).as("no key").isEqualTo(400);
	}

	private HttpResponse<String> send(String method, String key) throws Exception {
		return send(request(method, "?key=" + URLEncoder.encode(key, StandardCharsets.UTF_8)));
	}

	private static HttpResponse<String> send(HttpRequest request) throws Exception {
		return CLIENT.send(request, BodyHandlers.ofString());
	}

	private HttpRequest request(String method, String query) {
		return HttpRequest
			.newBuilder(URI.create("http://127.0.0.1:" + this.port + "/actuator/distributedlocks" + query))
			.method(method, HttpRequest.BodyPublishers.noBody())
			.build();
	}

}
