package io.github.lockspring;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;

import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The scripts on Redis keep to commands that Redis 6.2, 7 and 8 and Valkey have alike;
 * each of them was looked up in their command tables.
 */
class ScriptCommandsTests {

	/** Since when each of them is as it is used here; none is younger than 6.2. */
	private static final Set<String> EVERYWHERE = Set.of("DEL", "EXISTS", "GET", "INFO", "PEXPIRE", "PTTL", "PUBLISH",
			"PUBSUB", "SET", "TIME", "ZADD", "ZCARD", "ZPOPMIN", "ZRANGE", "ZREM");

	private static final Pattern CALL = Pattern.compile("\\bp?call\\(\\s*(?:'([A-Za-z]+)'|(\\S))");

	private static final Pattern FENCING_KEEP = Pattern.compile("local FENCING_KEEP = '(\\d+)'");

	@Test
	void fencingTokensAreKeptForADayByEachScript() throws IOException {
		Set<String> kept = new TreeSet<>();
		for (Resource script : scripts()) {
			FENCING_KEEP.matcher(script.getContentAsString(StandardCharsets.UTF_8))
				.results()
				.forEach((keep) -> kept.add(keep.group(1)));
		}
		assertThat(kept).containsExactly(Long.toString(Duration.ofDays(1).toMillis()));
	}

	private static Resource[] scripts() throws IOException {
		return new PathMatchingResourcePatternResolver().getResources("classpath*:io/github/lockspring/**/*.lua");
	}

	@Test
	void scriptsCallOnlyWhatEachSupportedServerHas() throws IOException {
		Set<String> called = new TreeSet<>();
		Resource[] scripts = scripts();
		assertThat(Arrays.stream(scripts).map(Resource::getFilename)).contains("acquire.lua", "release.lua",
				"renew.lua", "withdraw.lua");
		for (Resource script : scripts) {
			CALL.matcher(script.getContentAsString(StandardCharsets.UTF_8)).results().forEach((call) -> {
				assertThat(call.group(2)).as("what " + script.getFilename() + " calls is not written there").isNull();
				called.add(call.group(1));
			});
		}
		assertThat(called).hasSizeGreaterThan(10).isSubsetOf(EVERYWHERE);
	}

}
