package io.github.lockspring.redis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.github.lockspring.internal.base.LockOptions;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.OwnerToken;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The tables of {@code docs/understand/protocol-scripts.md} say what the scripts and the
 * engine do: the arguments and replies of each script, and the constants of the protocol.
 */
class ProtocolPageTests {

	private static final Path ROOT = Path.of("..", "..");

	private static final List<String> PAGE = read(ROOT.resolve("docs/understand/protocol-scripts.md")).lines().toList();

	private static final Path REDIS = Path.of("src/main/resources/io/github/lockspring/redis");

	private static final Path REDLOCK = ROOT
		.resolve("stores/lock-redlock/src/main/resources/io/github/lockspring/redis/redlock");

	private static final String ENGINE = "lock-core/src/main/java/io/github/lockspring/internal/engine/";

	/** An argument as a script reads it; the index may be an expression. */
	private static final Pattern ARGUMENT = Pattern.compile("\\b(KEYS|ARGV)\\[([^\\]]+)\\]");

	private static final Pattern LOCALS = Pattern.compile("\\s*local ([\\w, ]+) = (.+)");

	/** The index of an argument in a script for several locks. */
	private static final Pattern INDEX_OF_A_LOCK = Pattern.compile("index \\* (\\w+)(?: - (\\d+))?");

	private static final Pattern REPLY = Pattern.compile("'([\\d<][^']*)'");

	private static final Pattern CODE = Pattern.compile("`([^`]+)`");

	private static String read(Path file) {
		try {
			return Files.readString(file);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	static List<Path> scripts() throws IOException {
		List<Path> scripts = new ArrayList<>();
		for (Path directory : List.of(REDIS, REDLOCK)) {
			try (Stream<Path> files = Files.list(directory)) {
				files.filter((file) -> file.toString().endsWith(".lua")).sorted().forEach(scripts::add);
			}
		}
		return scripts;
	}

	@Test
	void pageHasEachScript() throws IOException {
		assertThat(PAGE.stream().filter((line) -> line.endsWith(".lua`") && line.startsWith("### ")))
			.containsExactlyInAnyOrderElementsOf(scripts().stream().map(ProtocolPageTests::heading).toList())
			.hasSize(9);
	}

	private static String heading(Path script) {
		return "### `" + (script.startsWith(REDLOCK) ? "redlock/" : "") + script.getFileName() + "`";
	}

	/** A name is missing where the script does not give the argument one. */
	@ParameterizedTest
	@MethodSource("scripts")
	void argumentsAreThoseOfTheScript(Path script) {
		Map<String, String> listed = new TreeMap<>();
		rows(heading(script)).stream()
			.filter((row) -> !row.get(0).equals("reply"))
			.forEach((row) -> listed.put(code(row.get(0)), code(row.get(1))));
		Map<String, String> used = arguments(read(script));
		assertThat(used).isNotEmpty();
		assertThat(listed.keySet()).isEqualTo(used.keySet());
		used.forEach((argument, name) -> assertThat(name).as(argument).isIn("", listed.get(argument)));
	}

	@ParameterizedTest
	@MethodSource("scripts")
	void repliesAreThoseOfTheScript(Path script) {
		List<String> header = read(script).lines()
			.dropWhile((line) -> !line.startsWith("-- Returns"))
			.takeWhile((line) -> line.startsWith("--"))
			.flatMap((line) -> REPLY.matcher(line).results().map((reply) -> reply.group(1)))
			.toList();
		List<String> listed = rows(heading(script)).stream()
			.filter((row) -> row.get(0).equals("reply"))
			.map((row) -> row.get(1))
			.toList();
		assertThat(listed).isNotEmpty();
		assertThat(listed.stream().filter((reply) -> !reply.equals("–")).map(ProtocolPageTests::code))
			.containsExactlyInAnyOrderElementsOf(header);
	}

	/** Returns each argument of a script, as on the page, with the name of its local. */
	private static Map<String, String> arguments(String script) {
		Map<String, String> arguments = new TreeMap<>();
		Matcher keys = Pattern.compile("for index, (\\w+) in ipairs\\(KEYS\\)").matcher(script);
		if (keys.find()) {
			arguments.put("KEYS[1]", keys.group(1));
		}
		for (String line : script.lines().toList()) {
			Map<String, String> locals = locals(line);
			ARGUMENT.matcher(line).results().forEach((argument) -> {
				String position = argument.group(1) + "[" + position(script, argument.group(2)) + "]";
				arguments.merge(position, locals.getOrDefault(argument.group(), ""),
						(one, other) -> one.isEmpty() ? other : one);
			});
		}
		return arguments;
	}

	/**
	 * Returns the names of the locals that a line gives to arguments. Names and values
	 * are compared from the end, since a call before the last value may have commas.
	 */
	private static Map<String, String> locals(String line) {
		Map<String, String> locals = new LinkedHashMap<>();
		Matcher definition = LOCALS.matcher(line);
		if (definition.matches()) {
			List<String> names = List.of(definition.group(1).split(", "));
			List<String> values = List.of(definition.group(2).split(", "));
			for (int i = 1; i <= Math.min(names.size(), values.size()); i++) {
				String name = names.get(names.size() - i);
				ARGUMENT.matcher(values.get(values.size() - i))
					.results()
					.forEach((argument) -> locals.put(argument.group(), name));
			}
		}
		return locals;
	}

	/** A script for several locks has the same arguments for each. */
	private static long position(String script, String index) {
		Matcher ofLock = INDEX_OF_A_LOCK.matcher(index);
		if (ofLock.matches()) {
			long last = lua(script, ofLock.group(1));
			return (ofLock.group(2) != null) ? last - Long.parseLong(ofLock.group(2)) : last;
		}
		return Long.parseLong(index.replace("first + ", ""));
	}

	/** Returns a constant of a script, which may be defined together with others. */
	private static long lua(String script, String name) {
		for (String line : script.lines().toList()) {
			Matcher definition = LOCALS.matcher(line);
			List<String> names = definition.matches() ? List.of(definition.group(1).split(", ")) : List.of();
			if (names.contains(name)) {
				return Long.parseLong(definition.group(2).split(", ")[names.indexOf(name)].replace("'", ""));
			}
		}
		throw new IllegalArgumentException("There is no constant " + name);
	}

	@Test
	void constantsAreThoseOfTheCode() {
		Map<String, String> listed = new TreeMap<>();
		rows("## Constants").forEach((row) -> listed.put(row.get(0), row.get(1)));
		Map<String, String> existing = new TreeMap<>(ofTheEngine());
		existing.putAll(ofTheScripts());
		existing.put("longest short grant", text(Duration.ofMillis(OwnerToken.SHORT_GRANT_MILLIS)));
		existing.put("longest retry interval", text(AcquireRequest.LONGEST_INTERVAL));
		existing.put("local hand-offs of an ownership, at most", text(OwnerToken.MAX_FENCING_TOKENS - 1));
		existing.put("shortest TTL", text(LockOptions.MIN_TTL));
		existing.put("shortest TTL that is renewed", text(LockOptions.MIN_RENEWED_TTL));
		existing.put("check of the inbox, every",
				text(Duration
					.ofSeconds(java("stores/lock-redis/src/main/java/" + "io/github/lockspring/redis/InboxSubscription",
							"CHECK_INTERVAL = Duration.ofSeconds(#)"))));
		existing.put("attempts at split votes, at most",
				text(java("stores/lock-redlock/src/main/java/io/github/lockspring/redis/redlock/RedlockAcquisition",
						"MAX_TRIES = #")));
		assertThat(listed).isEqualTo(existing);
	}

	private static Map<String, String> ofTheEngine() {
		Map<String, String> constants = new TreeMap<>();
		constants.put("longest grant",
				text(Duration.ofSeconds(engine("LockParameters", "MAX_GRANT = Duration.ofSeconds(#).toNanos()"))));
		constants.put("shortest pause without the queue", nanos("RetrySchedule", "MIN_POLL = #"));
		constants.put("longest pause without the queue", nanos("RetrySchedule", "MAX_POLL = #"));
		constants.put("attempt after the end of a lease, at most", nanos("RetrySchedule", "MAX_JITTER = #"));
		constants.put("attempt after a new subscription, at most", nanos("KeyLockRegistry", "MAX_SPREAD_NANOS = #"));
		constants.put("time for the inbox to open", nanos("Claim", "TIME_TO_OPEN_INBOX = #"));
		constants.put("local hand-offs while another instance waits, for", nanos("LocalHandoff", "MAX_NANOS = #"));
		constants.put("repetition of a release, every", nanos("Release", "INTERVAL_NANOS = #"));
		constants.put("leases of one renewal, at most", text(engine("Renewals", "BATCH_SIZE = #")));
		constants.put("an instance registers every", nanos("support/Instances", "INTERVAL_NANOS = #"));
		constants.put("an instance is registered for",
				text(Duration.ofSeconds(engine("support/Instances", "TTL = Duration.ofSeconds(#)"))));
		constants.put("drift of a lease", 100 / engine("RenewalPolicy", "return lease / # + ") + " % and "
				+ nanos("RenewalPolicy", "return lease / 100 + #"));
		return constants;
	}

	private static Map<String, String> ofTheScripts() {
		String acquire = read(REDIS.resolve("acquire.lua"));
		String release = read(REDIS.resolve("release.lua"));
		Map<String, String> constants = new TreeMap<>();
		constants.put("later turn of a short grant",
				text(Duration.ofMillis(lua(acquire, "DELAY_WITHOUT_MESSAGE") / 1000)));
		constants.put("a queue is kept for", text(Duration.ofMillis(lua(acquire, "QUEUE_KEEP"))));
		constants.put("the last fencing token is kept for", text(Duration.ofMillis(lua(acquire, "FENCING_KEEP"))));
		constants.put("tokens that a release looks at, at most", text(lua(release, "MAX_DEAD_WAITERS")));
		return constants;
	}

	@Test
	void scriptsKnowWhichGrantsAreShort() {
		for (String script : List.of("acquire.lua", "release.lua")) {
			assertThat(lua(read(REDIS.resolve(script)), "SHORT_GRANT")).as(script)
				.isEqualTo(OwnerToken.SHORT_GRANT_MILLIS);
		}
	}

	private static String nanos(String type, String definition) {
		return text(Duration.ofNanos(engine(type, definition)));
	}

	private static long engine(String type, String definition) {
		return java(ENGINE + type, definition);
	}

	/**
	 * Returns a number in the source of a class.
	 * @param definition how it is defined, with {@code #} for the number
	 */
	private static long java(String type, String definition) {
		String pattern = Arrays.stream(definition.split("#", -1))
			.map(Pattern::quote)
			.reduce((before, after) -> before + "([\\d_]+)L?" + after)
			.orElseThrow();
		Matcher found = Pattern.compile("\\b" + pattern).matcher(read(ROOT.resolve(type + ".java")));
		assertThat(found.find()).as(type + ": " + definition).isTrue();
		return Long.parseLong(found.group(1).replace("_", ""));
	}

	private static String text(long number) {
		return String.format(Locale.ROOT, "%,d", number);
	}

	private static String text(Duration duration) {
		if (duration.equals(Duration.ofDays(duration.toDays()))) {
			return duration.toDays() + " day";
		}
		boolean seconds = duration.equals(Duration.ofSeconds(duration.toSeconds()));
		return seconds ? duration.toSeconds() + " s" : duration.toMillis() + " ms";
	}

	/** Returns the rows of the first table after a heading. */
	private static List<List<String>> rows(String heading) {
		assertThat(PAGE).contains(heading);
		return PAGE.stream()
			.skip(PAGE.indexOf(heading))
			.dropWhile((line) -> !line.startsWith("|"))
			.takeWhile((line) -> line.startsWith("|"))
			.skip(2)
			.map((line) -> Arrays.stream(line.substring(1).split("\\|")).map(String::trim).toList())
			.toList();
	}

	private static String code(String cell) {
		Matcher code = CODE.matcher(cell);
		assertThat(code.matches()).as(cell).isTrue();
		return code.group(1);
	}

}
