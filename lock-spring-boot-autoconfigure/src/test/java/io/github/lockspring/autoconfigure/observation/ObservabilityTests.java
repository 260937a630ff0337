package io.github.lockspring.autoconfigure.observation;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.lockspring.Documentation;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.autoconfigure.Applications;
import io.github.lockspring.autoconfigure.observation.LockObservationContext.Phase;
import io.micrometer.common.KeyValues;
import io.micrometer.core.instrument.Meter;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.config.YamlMapFactoryBean;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.core.io.ByteArrayResource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares the pages about what locks do, the dashboard and the alerts with the code, and
 * with a scrape of an application on a real server.
 */
class ObservabilityTests {

	private static final List<String> PAGE = Documentation.lines("docs/reference/meters.md");

	private static final List<String> OPERATORS_PAGE = Documentation.lines("docs/run/observability.md");

	private static final Pattern METRIC = Pattern.compile("distributed_lock_[a-z_]+");

	private static final Pattern LABELS = Pattern.compile("(?:\\{| by \\()([^})]*)[})]");

	/** Prometheus adds them to what it scrapes. */
	private static final Set<String> LABELS_OF_PROMETHEUS = Set.of("job", "instance");

	/** Each meter's name, its type and the keys of its tags. */
	private static Set<List<Object>> meters = Set.of();

	/** Each metric and the labels that it has. */
	private static Map<String, Set<String>> scraped = Map.of();

	@BeforeAll
	static void scrape() {
		Applications.onSharedServer()
			.withConfiguration(AutoConfigurations.of(MetricsAutoConfiguration.class,
					CompositeMeterRegistryAutoConfiguration.class))
			.withBean(PrometheusMeterRegistry.class, LockMetersTests::strictRegistry)
			.withUserConfiguration(MeteredService.class)
			.run((context) -> {
				context.getBean(MeteredService.class).ship("scraped", () -> {
				});
				context.getBean(LockTemplate.class).acquire(LockRequest.of("scraped too")).close();
				PrometheusMeterRegistry registry = context.getBean(PrometheusMeterRegistry.class);
				meters = registry.getMeters()
					.stream()
					.map(Meter::getId)
					.filter((id) -> id.getName().startsWith("distributed.lock"))
					.map((id) -> List.of(code(id.getName()), id.getType().name().toLowerCase(Locale.ROOT), tags(id)))
					.collect(Collectors.toSet());
				scraped = registry.scrape()
					.lines()
					.filter((line) -> line.startsWith("distributed_lock"))
					.collect(Collectors.toMap((line) -> line.replaceAll("[{ ].*", ""), ObservabilityTests::labels,
							(labels, same) -> labels));
			});
	}

	private static Set<String> tags(Meter.Id meter) {
		return meter.getTags().stream().map((tag) -> code(tag.getKey())).collect(Collectors.toSet());
	}

	private static Set<String> labels(String line) {
		return Pattern.compile("(\\w+)=\"")
			.matcher(line)
			.results()
			.map((label) -> label.group(1))
			.collect(Collectors.toSet());
	}

	@Test
	void pageListsEveryMeterWithItsTypeAndTags() {
		assertThat(rows("## Meters").stream()
			.map((row) -> List.of(row.get(0), row.get(1), Set.of(row.get(2).split(", ")))))
			.containsExactlyInAnyOrderElementsOf(meters);
	}

	@Test
	void pageListsEveryObservationAndItsValues() {
		assertThat(rows("## Traces").stream().map((row) -> row.get(0))).containsExactlyElementsOf(
				Arrays.stream(Phase.values()).map((phase) -> code(phase.observation())).toList());
		KeyValues values = new LockObservationConvention() {
		}.getLowCardinalityKeyValues(new LockObservationContext(Phase.WAIT, LockRequest.of("a"), "memory"));
		assertThat(values).isNotEmpty()
			.allSatisfy((value) -> assertThat(PAGE)
				.anyMatch((line) -> line.startsWith("| " + code(value.getKey()) + " | ")));
	}

	@Test
	void aScrapeHasEveryMetricOfTheAlerts() {
		assertThat(metrics(String.join("\n", OPERATORS_PAGE))).isNotEmpty().isSubsetOf(scraped.keySet());
	}

	@Test
	void aScrapeHasEveryMetricOfTheDashboardAndItsLabels() {
		Map<String, Object> dashboard = JsonParserFactory.getJsonParser()
			.parseMap(String.join("\n", Documentation.lines("docs/run/grafana-dashboard.json")));
		List<String> expressions = maps(dashboard.get("panels")).flatMap((panel) -> maps(panel.get("targets")))
			.map((target) -> (String) target.get("expr"))
			.toList();
		assertThat(expressions).hasSizeGreaterThan(15).allSatisfy(ObservabilityTests::assertScraped);
		Set<String> shown = metrics(String.join("\n", expressions));
		assertThat(scraped.keySet()).isEqualTo(shown);
	}

	@Test
	void aScrapeHasEveryMetricOfTheRulesForAlertsAndItsLabels() {
		YamlMapFactoryBean file = new YamlMapFactoryBean();
		file.setResources(new ByteArrayResource(
				String.join("\n", Documentation.lines("docs/run/alerts.yml")).getBytes(StandardCharsets.UTF_8)));
		List<String> expressions = maps(file.getObject().get("groups")).flatMap((group) -> maps(group.get("rules")))
			.map((rule) -> (String) rule.get("expr"))
			.toList();
		assertThat(expressions).hasSizeGreaterThan(8).allSatisfy(ObservabilityTests::assertScraped);
	}

	private static void assertScraped(String expression) {
		assertThat(metrics(expression)).isNotEmpty().isSubsetOf(scraped.keySet());
		Set<String> known = Stream
			.concat(LABELS_OF_PROMETHEUS.stream(),
					metrics(expression).stream().flatMap((metric) -> scraped.get(metric).stream()))
			.collect(Collectors.toSet());
		assertThat(usedLabels(expression)).isSubsetOf(known);
	}

	private static Set<String> metrics(String text) {
		return METRIC.matcher(text).results().map(MatchResult::group).collect(Collectors.toCollection(TreeSet::new));
	}

	private static Set<String> usedLabels(String expression) {
		return LABELS.matcher(expression)
			.results()
			.flatMap((labels) -> Arrays.stream(labels.group(1).split(",")))
			.map((label) -> label.replaceAll("[!=~].*", "").trim())
			.collect(Collectors.toSet());
	}

	@SuppressWarnings("unchecked")
	private static Stream<Map<String, Object>> maps(Object list) {
		return (list != null) ? ((List<Map<String, Object>>) list).stream() : Stream.empty();
	}

	/** The first three cells of each row of a table. */
	private static List<List<String>> rows(String heading) {
		return Documentation.table(PAGE, heading).stream().skip(2).map((row) -> row.subList(0, 3)).toList();
	}

	private static String code(String text) {
		return "`" + text + "`";
	}

}
