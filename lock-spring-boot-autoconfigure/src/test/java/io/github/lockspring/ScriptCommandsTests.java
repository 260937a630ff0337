package io.github.lockspring;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.lockspring.store.OwnerToken;
import org.junit.jupiter.api.Test;

import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The scripts on Redis keep to commands that Redis 6.2, 7 and 8 and Valkey have alike;
 * each of them was looked up in their command tables. They repeat what the engine
 * promises.
 */
class ScriptCommandsTests {

	/** Since when each of them is as it is used here; none is younger than 6.2. */
	private static final Set<String> EVERYWHERE = Set.of("DEL", "EXISTS", "GET", "INFO", "PEXPIRE", "PTTL", "PUBLISH",
			"PUBSUB", "SET", "TIME", "ZADD", "ZCARD", "ZPOPMIN", "ZRANGE", "ZREM");

	private static final Pattern CALL = Pattern.compile("\\bp?call\\(\\s*(?:'([A-Za-z]+)'|(\\S))");

	@Test
	void fencingTokensAreKeptForADayByEachScript() throws IOException {
		assertThat(constants("FENCING_KEEP")).hasSize(4).containsOnly(Duration.ofDays(1).toMillis());
	}

	@Test
	void scriptsKnowHowManyFencingTokensAnOwnershipUses() throws IOException {
		assertThat(constants("MAX_LOCAL_TOKENS")).hasSize(3).containsOnly(OwnerToken.MAX_FENCING_TOKENS - 1L);
	}

	private static List<Long> constants(String name) throws IOException {
		Pattern constant = Pattern.compile("local " + name + " = '?(\\d+)'?\n");
		List<Long> values = new ArrayList<>();
		for (Resource script : scripts()) {
			Matcher definition = constant.matcher(script.getContentAsString(StandardCharsets.UTF_8));
			if (definition.find()) {
				values.add(Long.valueOf(definition.group(1)));
			}
		}
		return values;
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
