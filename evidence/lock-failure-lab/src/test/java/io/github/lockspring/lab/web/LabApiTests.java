package io.github.lockspring.lab.web;

import java.time.Duration;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The lab over HTTP, without a server for locks.
 */
@SpringBootTest
@AutoConfigureMockMvc
class LabApiTests {

	@Autowired
	private MockMvcTester mvc;

	@Test
	void catalogueHasEveryRecipeWithItsSourceAndCode() {
		assertThat(this.mvc.get().uri("/lab/api/catalogue")).hasStatusOk()
			.bodyJson()
			.satisfies((json) -> assertThat(json.getJson()).doesNotContain("\"code\":\"\"")
				.contains("final class SetNxThenDel", "\"limits\"", "sold-twice"));
	}

	@Test
	void runIsMadeAndJudgedAndItsEventsAreSent() {
		String id = "";
		MvcTestResult streamed = null;
		for (int tries = 0; tries < 3 && (tries == 0 || isStuck(id)); tries++) {
			id = field(post("{\"recipe\":\"select-for-update\",\"fault\":\"none\",\"shops\":2}"), "id");
			assertThat(post("{\"recipe\":\"select-for-update\",\"fault\":\"none\"}")).hasStatus(429)
				.hasHeader("Retry-After", "5");
			streamed = this.mvc.get().uri("/lab/api/runs/" + id + "/events").asyncExchange();
			awaitEnd(id);
		}
		MvcTestResult events = streamed;
		assertThat(body("/lab/api/runs/" + id)).contains("\"code\":\"safe\"", "\"asExpected\":true",
				"\"type\":\"sold\"");
		assertThat(body("/lab/api/runs")).contains("\"" + id + "\"").doesNotContain("\"type\":\"sold\"");
		assertThat(body("/lab/api/matrix")).contains("\"asExpectedRuns\":1");
		await().untilAsserted(() -> assertThat(events.getResponse().getContentAsString()).contains("event:event",
				"event:sale", "event:state", "\"state\":\"finished\""));
		assertThat(this.mvc.get().uri("/lab/api/runs/" + id + "/keys")).hasStatusOk();
	}

	private void awaitEnd(String id) {
		await().atMost(Duration.ofSeconds(90))
			.until(() -> body("/lab/api/runs/" + id).contains("\"state\":\"finished\""));
	}

	/** No sale for two seconds: this machine is too busy to say anything else. */
	private boolean isStuck(String id) {
		return body("/lab/api/runs/" + id).contains("\"code\":\"stuck\"");
	}

	/** Also those that the lab's page shows: of recipes, and of the rules in verdicts. */
	@Test
	void relativeLinksOfTheCatalogueLeadToADocumentAndItsHeading() {
		Matcher links = Pattern.compile("\"(docs/[a-z/-]+\\.md)(?:#([a-z0-9-]+))?\"")
			.matcher(body("/lab/api/catalogue"));
		int found = 0;
		while (links.find()) {
			found++;
			assertThat(this.mvc.get().uri("/" + links.group(1))).as(links.group(1)).hasStatusOk();
			if (links.group(2) != null) {
				String heading = links.group(2).replace('-', ' ');
				assertThat(body("/" + links.group(1)).toLowerCase(Locale.ROOT)).contains("# " + heading + "\n");
			}
		}
		assertThat(found).isGreaterThanOrEqualTo(5);
		assertThat(body("/docs/understand/failures.md")).contains("<a id=\"f01\"></a>", "<a id=\"f22\"></a>");
	}

	@Test
	void wrongRequestsAreAnsweredInWords() {
		assertThat(post("{\"recipe\":\"set-nx-del\",\"fault\":\"none\",\"shops\":5}")).hasStatus(400)
			.bodyText()
			.contains("1 to 4 shops, not 5");
		assertThat(post("{\"recipe\":\"set-nx-del\",\"fault\":\"node-restarted\"}")).hasStatus(400)
			.bodyText()
			.contains("does not apply");
		assertThat(post("{}")).hasStatus(400);
		assertThat(this.mvc.post()
			.uri("/lab/api/matrix")
			.header("X-Page-Token", token())
			.contentType(MediaType.APPLICATION_JSON)
			.content("{\"runs\":11}")).hasStatus(400).bodyText().contains("1 to 10 times, not 11");
		assertThat(this.mvc.get().uri("/lab/api/runs/r999")).hasStatus(404).bodyText().contains("no run 'r999'");
	}

	private MvcTestResult post(String body) {
		return this.mvc.post()
			.uri("/lab/api/runs")
			.header("X-Page-Token", token())
			.contentType(MediaType.APPLICATION_JSON)
			.content(body)
			.exchange();
	}

	private String token() {
		return field(this.mvc.get().uri("/lab/api/catalogue").exchange(), "token");
	}

	private String body(String path) {
		return text(this.mvc.get().uri(path).exchange());
	}

	private static String field(MvcTestResult result, String name) {
		Matcher matcher = Pattern.compile("\"" + name + "\":\"([^\"]+)\"").matcher(text(result));
		assertThat(matcher.find()).as(text(result)).isTrue();
		return matcher.group(1);
	}

	private static String text(MvcTestResult result) {
		try {
			return result.getResponse().getContentAsString();
		}
		catch (java.io.UnsupportedEncodingException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
