package io.github.lockspring;

import java.io.IOException;
import java.nio.charset.StandardCharsets;

import io.github.lockspring.redis.RedisLockStore;
import io.github.lockspring.store.OwnerToken;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.core.io.ClassPathResource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Scripts repeat what the engine promises.
 */
class ScriptConstantsTests {

	@ParameterizedTest
	@CsvSource({ "inspect.lua, MAX_LOCAL_TOKENS, -1", "redlock/inspect.lua, MAX_LOCAL_TOKENS, -1",
			"redlock/renew.lua, MAX_LOCAL_TOKENS, -1" })
	void scriptsKnowHowManyFencingTokensAnOwnershipUses(String script, String name, int more) throws IOException {
		String text = new ClassPathResource(script, RedisLockStore.class).getContentAsString(StandardCharsets.UTF_8);
		assertThat(text).contains("local " + name + " = " + (OwnerToken.MAX_FENCING_TOKENS + more) + "\n");
	}

}
