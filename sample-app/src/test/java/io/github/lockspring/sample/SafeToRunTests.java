package io.github.lockspring.sample;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;

import io.github.lockspring.test.AutoConfigureDistributedLocks;
import org.apache.catalina.connector.Connector;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.boot.tomcat.TomcatWebServer;
import org.springframework.boot.web.server.servlet.context.ServletWebServerApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the network may do to the sample: nothing, unless somebody opens it; and what is
 * open has bounds.
 */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT,
		properties = { "shop.report.cron=-", "shop.packing-time=0s" })
@AutoConfigureDistributedLocks
class SafeToRunTests {

	private static final String SHIP = "/api/orders/order-1/ship";

	@LocalServerPort
	private int port;

	@Autowired
	private ServletWebServerApplicationContext context;

	@Autowired
	private OrderService orders;

	@Test
	void listensOnTheLoopbackAddress() {
		Connector connector = ((TomcatWebServer) this.context.getWebServer()).getTomcat().getConnector();
		assertThat(connector.getProperty("address")).isInstanceOfSatisfying(InetAddress.class,
				(address) -> assertThat(address.isLoopbackAddress()).isTrue());
	}

	@ParameterizedTest
	@CsvSource({ "127.0.0.1, localhost", "::1, localhost", "0.0.0.0, localhost", "192.0.2.7, 192.0.2.7",
			"2001:db8::7, [2001:db8:0:0:0:0:0:7]" })
	void instanceNamesAnAddressThatItAnswers(String address, String host) throws IOException {
		assertThat(Instance.host(InetAddress.getByName(address))).isEqualTo(host);
	}

	@Test
	void changesNeedTheToken() throws Exception {
		HttpResponse<String> answer = HttpClient.newHttpClient()
			.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + this.port + "/api/orders/order-2/cancel"))
				.POST(BodyPublishers.noBody())
				.build(), BodyHandlers.ofString());
		assertThat(answer.statusCode()).isEqualTo(403);
		assertThat(answer.body()).contains("X-Page-Token", "GET /api/token");
		assertThat(this.orders.statusOf("order-2")).isNull();
	}

	@Test
	void orderHasAFewArticles() {
		HttpResponse<String> many = ship("[" + "\"tea\",".repeat(20) + "\"tea\"]");
		assertThat(many.statusCode()).isEqualTo(400);
		assertThat(many.body()).contains("An order has 1 to 20 articles, not 21");
		assertThat(this.orders.statusOf("order-1")).isNull();
	}

	@Test
	void bodyIsSmall() {
		HttpResponse<String> large = ship(" ".repeat(20_000) + "[\"tea\"]");
		assertThat(large.statusCode()).isEqualTo(413);
		assertThat(large.body()).contains("A body has at most 16384 bytes, not 20007");
		HttpResponse<String> endless = new Shop(this.port)
			.post(SHIP, BodyPublishers.ofInputStream(() -> new ByteArrayInputStream("[\"tea\"]".getBytes())))
			.join();
		assertThat(endless.statusCode()).isEqualTo(411);
		assertThat(this.orders.statusOf("order-1")).isNull();
	}

	private HttpResponse<String> ship(String body) {
		return new Shop(this.port).post(SHIP, BodyPublishers.ofString(body)).join();
	}

}
