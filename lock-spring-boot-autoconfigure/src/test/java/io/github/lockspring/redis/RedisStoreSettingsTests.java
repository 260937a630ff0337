package io.github.lockspring.redis;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class RedisStoreSettingsTests {

	@Test
	void defaultsAreThoseOfTheDocumentation() {
		assertThat(new RedisStoreSettings()).isEqualTo(new RedisStoreSettings("lock:", Duration.ofSeconds(1), true));
	}

	@Test
	void emptyPrefixIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> new RedisStoreSettings("", Duration.ofSeconds(1), true))
			.withMessageContaining("must not be empty");
	}

	@Test
	void prefixWithABraceIsRefused() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new RedisStoreSettings("{app}:", Duration.ofSeconds(1), true))
			.withMessageContaining("'{app}:'");
	}

	@Test
	void timeoutBelowAMillisecondIsRefused() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new RedisStoreSettings("lock:", Duration.ofNanos(10), true))
			.withMessageContaining("at least 1ms");
	}

}
