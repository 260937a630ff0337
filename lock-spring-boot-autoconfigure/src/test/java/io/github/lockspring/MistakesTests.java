package io.github.lockspring;

import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.lockspring.autoconfigure.Applications;
import io.github.lockspring.autoconfigure.LockedService;
import io.github.lockspring.autoconfigure.StartupFailures;
import io.github.lockspring.testsupport.etcd.EtcdProcess;
import io.github.lockspring.testsupport.etcd.RequiresEtcd;
import org.jspecify.annotations.NonNull;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.FieldSource;

import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Makes the mistakes that {@code docs/reference/mistakes.md} lists, and compares each
 * message with the page, word for word.
 */
@ExtendWith(OutputCaptureExtension.class)
class MistakesTests {

	private static final String PAGE = "docs/reference/mistakes.md";

	private static final Pattern PROBLEM = Pattern.compile("Problem: (.*)");

	/** What Spring Boot writes before the reason of a wrong value. */
	private static final String REASON = "Validation failed for the following reason:";

	private static final Pattern ORIGIN = Pattern.compile(" \\(from .*?\\)(?=, so)");

	static final List<Mistake> START = List.of(
			// keys
			key("nightly-report"), key("order-#id"), key("order:#id"), key("order.id"), key("#ordr.id"),
			key("#order.nme"), key("#order."), key("42"), key("#root.arg[0]"), key("@nobody.id(#id)"),
			key("order:#{#order.id}"), key("${nowhere}"), attribute("name", "#id"),
			// durations
			attribute("ttl", "30"), attribute("ttl", "30sec"), attribute("ttl", "50ms"), attribute("ttl", "-5s"),
			attribute("waitTime", "400d"), attribute("maxHold", "10ms"),
			// properties
			property("wait-time=5sec"), property("ttl=45"), property("wait-time=-1s"), property("max-hold=10s"),
			property("key-prefix={shop}"), property("store=redlok"), property("etcd.endpoints=etcd:2379"),
			property("ttl=1s", "store=etcd"),
			// methods
			method("private void ship()", PrivateMethod.class), method("static void ship()", StaticMethod.class),
			method("final void ship()", FinalMethod.class), method("final class Orders", FinalClass.class),
			method("record Orders()", RecordOrders.class), method("CompletableFuture ship()", ReturnsFuture.class),
			method("Stream ship()", ReturnsStream.class), method("Supplier ship()", ReturnsSupplier.class),
			method("Optional<Future> ship()", ReturnsOptional.class),
			method("onBusy = SKIP, non-null String", SkipsNonNull.class),
			method("onBusy = SKIP, boolean", SkipsBoolean.class),
			method("renew = false, maxHold = 1h", BoundedWithoutRenewal.class),
			new Mistake("no Redis and no other store", LockedService.class, ""),
			new Mistake("a slice without @AutoConfigureDistributedLocks", InSlice.class, ""));

	static final List<Mistake> WARNINGS = List.of(property("tll=30s"), property("redlock.node[0]=redis://a"),
			property("redis.command-timeout=2s"));

	static final List<Mistake> CALLS = List.of(call("key is null", (service) -> service.ship(null)),
			call("key is \"\"", (service) -> service.ship("")),
			call("key is [ ]", (service) -> service.ship(List.of())),
			call("key is [null]", (service) -> service.ship(Collections.singletonList(null))),
			call("key is an object without toString()", (service) -> service.ship(new Service())),
			call("key is a map", (service) -> service.ship(Map.of())),
			call("key is a byte[]", (service) -> service.ship(new byte[0])),
			call("Object ship() returns a future", (service) -> service.anything(new CompletableFuture<>())));

	@ParameterizedTest
	@FieldSource("START")
	void mistakeStopsTheStart(Mistake mistake) {
		FailureAnalysis failure = StartupFailures.of(mistake.application());
		assertThat(documented("## At startup").get(mistake.what())).isEqualTo(row(failure));
	}

	private static String row(FailureAnalysis failure) {
		String description = failure.getDescription();
		Matcher problem = PROBLEM.matcher(description);
		String remedy = failure.getAction().lines().map(String::strip).collect(Collectors.joining(" "));
		int reason = description.indexOf(REASON);
		if (reason >= 0) {
			String[] sentences = description.substring(reason + REASON.length()).strip().split("(?<=\\.) ", 2);
			return row(sentences[0], sentences[1]);
		}
		return row(problem.find() ? problem.group(1) : description.lines().findFirst().orElseThrow(), remedy);
	}

	@ParameterizedTest
	@FieldSource("WARNINGS")
	void mistakeIsAWarning(Mistake mistake, CapturedOutput output) {
		mistake.application().run((context) -> assertThat(context).hasNotFailed());
		String warning = output.getOut()
			.lines()
			.filter((line) -> line.contains("There is no property"))
			.findFirst()
			.orElseThrow();
		assertThat(documented("## Warnings at startup").get(mistake.what()))
			.isEqualTo("`" + ORIGIN.matcher(warning).replaceAll("").replaceFirst(".*: (?=There is)", "") + "`");
	}

	@ParameterizedTest
	@FieldSource("CALLS")
	void mistakeEndsTheCall(Mistake mistake) {
		mistake.application().run((context) -> {
			Throwable error = catchThrowable(() -> mistake.call().accept(context.getBean(Service.class)));
			String[] row = documented("## At a call").getOrDefault(mistake.what(), "").replace("`", "").split(" \\| ");
			assertThat(error).isInstanceOfAny(IllegalArgumentException.class, IllegalStateException.class)
				.hasMessageStartingWith("@DistributedLock on " + Service.class.getName())
				.hasMessageEndingWith(": " + row[0] + ". " + row[1]);
		});
	}

	@ParameterizedTest
	@CsvSource({ "http://127.0.0.1:1, Connection refused, no", ", authentication is not enabled, yes",
			", authentication failed, yes" })
	@RequiresEtcd
	void mistakeWithEtcdEndsTheCallWithWhatThePageSays(@Nullable String address, String words, String atOnce) {
		try (EtcdProcess server = EtcdProcess.alone()) {
			if (words.equals("authentication failed")) {
				server.authenticate("shop", "right");
			}
			Applications.withoutRedis()
				.withPropertyValues("distributed-lock.store=etcd",
						"distributed-lock.etcd.endpoints=" + ((address != null) ? address : server.address()),
						"distributed-lock.etcd.username=shop", "distributed-lock.etcd.password=wrong",
						"distributed-lock.wait-time=100ms")
				.run((context) -> {
					Throwable error = catchThrowable(
							() -> context.getBean(LockTemplate.class).acquire(LockRequest.of("a")));
					List<String> row = Documentation.table(Documentation.lines("docs/run/outages.md"), "## etcd")
						.stream()
						.filter((cells) -> cells.get(0).contains("`" + words + "`"))
						.findFirst()
						.orElseThrow();
					assertThat(row.get(1)).isEqualTo(atOnce);
					assertThat(error).isInstanceOf(LockUnavailableException.class)
						.hasStackTraceContaining(words)
						.hasStackTraceContaining(row.get(2).replace("`", ""))
						.satisfies((ex) -> assertThat(((LockUnavailableException) ex).isPermanent())
							.isEqualTo(atOnce.equals("yes")));
				});
		}
	}

	@Test
	void reportHasTheMistakesOfAllMethods() {
		FailureAnalysis failure = StartupFailures.of(Applications.inMemory()
			.withUserConfiguration(ReturnsFuture.class, FinalMethod.class, SkipsBoolean.class));
		assertThat(failure.getDescription())
			.containsSubsequence("ReturnsFuture.ship()", "Return type: CompletableFuture", "FinalMethod.ship()",
					"Problem: no proxy can override a final method", "Remedy: Remove final", "SkipsBoolean.ship()")
			.doesNotContain("Attribute: key = \"'x'\"");
		assertThat(failure.getAction()).isEqualTo("Correct these 3 methods as described.");
	}

	@Test
	void reportHasOfFencedOnlyTheMistakeThatStoppedTheStart() {
		FailureAnalysis failure = StartupFailures
			.of(Applications.inMemory().withUserConfiguration(ReturnsFuture.class, FencedPrivately.class));
		assertThat(failure.getDescription()).contains("ReturnsFuture.ship()").doesNotContain("@Fenced");
		failure = StartupFailures
			.of(Applications.inMemory().withUserConfiguration(FencedPrivately.class, ReturnsFuture.class));
		assertThat(failure.getDescription()).containsSubsequence("A @Fenced", "FencedPrivately.ship()",
				"ReturnsFuture.ship()");
	}

	@Test
	void everyMistakeOfThePageIsMade() {
		assertThat(documented("## At startup").keySet()).containsExactlyElementsOf(whats(START));
		assertThat(documented("## Warnings at startup").keySet()).containsExactlyElementsOf(whats(WARNINGS));
		assertThat(documented("## At a call").keySet()).containsExactlyElementsOf(whats(CALLS));
	}

	private static List<String> whats(List<Mistake> mistakes) {
		return mistakes.stream().map(Mistake::what).toList();
	}

	private static String row(String problem, String remedy) {
		return "`" + problem + "` | `" + remedy + "`";
	}

	private static Map<String, String> documented(String heading) {
		Map<String, String> rows = new LinkedHashMap<>();
		Documentation.table(Documentation.lines(PAGE), heading)
			.stream()
			.skip(2)
			.forEach((cells) -> rows.put(cells.get(0).replace("`", ""),
					String.join(" | ", cells.subList(1, cells.size()))));
		return rows;
	}

	private static Mistake key(String key) {
		return attribute("key", key);
	}

	private static Mistake attribute(String attribute, String value) {
		return new Mistake(attribute + " = \"" + value + "\"", Attributes.class, "test." + attribute + "=" + value);
	}

	private static Mistake property(String... properties) {
		String all = Arrays.stream(properties)
			.map((property) -> "distributed-lock." + property)
			.collect(Collectors.joining(" "));
		return new Mistake(all, Attributes.class, all.replace(" ", "\n"));
	}

	private static Mistake method(String what, Class<?> bean) {
		return new Mistake(what, bean, "");
	}

	private static Mistake call(String what, Consumer<Service> call) {
		return new Mistake(what, Service.class, "", call);
	}

	record Mistake(String what, Class<?> bean, String property, Consumer<Service> call) {

		Mistake(String what, Class<?> bean, String property) {
			this(what, bean, property, (service) -> {
			});
		}

		ApplicationContextRunner application() {
			ApplicationContextRunner runner = (this.bean == InSlice.class) ? new ApplicationContextRunner()
					: (this.bean == LockedService.class) ? Applications.withoutRedis() : Applications.inMemory();
			return runner.withUserConfiguration(this.bean)
				.withPropertyValues(this.property.isEmpty() ? new String[0] : this.property.split("\n"));
		}

		@Override
		public String toString() {
			return this.what;
		}

	}

	public record Order(String id, List<String> articles) {
	}

	static class Attributes {

		@DistributedLock(name = "${test.name:}", key = "${test.key:'x'}", ttl = "${test.ttl:}",
				waitTime = "${test.waitTime:}", maxHold = "${test.maxHold:}")
		public void ship(Order order, String id) {
		}

	}

	static class Service {

		@DistributedLock(name = "orders", key = "#id")
		public void ship(@Nullable Object id) {
		}

		@DistributedLock(name = "anything", key = "'x'")
		public Object anything(Object result) {
			return result;
		}

	}

	record InSlice(LockTemplate locks) {
	}

	static class PrivateMethod {

		@DistributedLock(key = "'x'")
		private void ship() {
		}

	}

	static class FencedPrivately {

		@Fenced
		private void ship() {
		}

	}

	static class StaticMethod {

		@DistributedLock(key = "'x'")
		public static void ship() {
		}

	}

	static class FinalMethod {

		@DistributedLock(key = "'x'")
		public final void ship() {
		}

	}

	static final class FinalClass {

		@DistributedLock(key = "'x'")
		public void ship() {
		}

	}

	record RecordOrders() {

		@DistributedLock(key = "'x'")
		public void ship() {
		}

	}

	static class ReturnsFuture {

		@DistributedLock(key = "'x'")
		public CompletableFuture<String> ship() {
			return new CompletableFuture<>();
		}

	}

	static class ReturnsStream {

		@DistributedLock(key = "'x'")
		public Stream<String> ship() {
			return Stream.of();
		}

	}

	static class ReturnsSupplier {

		@DistributedLock(key = "'x'")
		public Supplier<String> ship() {
			return () -> "";
		}

	}

	static class ReturnsOptional {

		@DistributedLock(key = "'x'")
		public Optional<CompletableFuture<String>> ship() {
			return Optional.empty();
		}

	}

	static class BoundedWithoutRenewal {

		@DistributedLock(key = "'x'", renew = false, maxHold = "1h")
		public void ship() {
		}

	}

	static class SkipsBoolean {

		@DistributedLock(key = "'x'", onBusy = OnBusy.SKIP)
		public boolean ship() {
			return true;
		}

	}

	static class SkipsNonNull {

		@DistributedLock(key = "'x'", onBusy = OnBusy.SKIP)
		public @NonNull String ship() {
			return "";
		}

	}

}
