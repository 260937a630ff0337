package io.github.lockspring.redis.internal.client;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import io.github.lockspring.redis.internal.client.RedisErrors.Topic;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is known about errors is on the page about outages.
 */
class RedisErrorsTests {

	@Test
	void everyRemedyIsDocumented() throws IOException {
		String page = Files.readString(Path.of("../../docs/run/outages.md"));
		assertThat(RedisErrors.KNOWN).allSatisfy((error) -> assertThat(page.lines()
			.filter((line) -> line.startsWith("| `") && line.contains('`' + error.words() + '`')
					&& line.contains((error.topic() == Topic.OTHER) ? "| " : "| yes |")))
			.as(error.words())
			.anyMatch((line) -> line.contains('`' + error.remedy() + '`')));
	}

}
