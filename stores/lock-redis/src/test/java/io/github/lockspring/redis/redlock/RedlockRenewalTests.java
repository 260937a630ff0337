package io.github.lockspring.redis.redlock;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;

import org.springframework.test.util.ReflectionTestUtils;

import static io.github.lockspring.redis.StoreFixture.token;
import static org.assertj.core.api.Assertions.assertThat;

class RedlockRenewalTests {

	@Test
	void ownershipsThatEndedSilentlyAreForgottenAndOthersAreNot() {
		RedlockRenewal renewal = new RedlockRenewal(new Quorum(List.of()),
				new RedlockRequests(new RedlockSettings("lock:", Duration.ofSeconds(5), Duration.ofSeconds(5),
						Duration.ofSeconds(1), 0, Duration.ofMinutes(5), true)));
		for (int i = 0; i < 10_000; i++) {
			renewal.begin(token(), i, i, (i % 100 == 0) ? Duration.ofMinutes(1) : Duration.ZERO);
		}
		Map<?, ?> held = (Map<?, ?>) ReflectionTestUtils.getField(renewal, "held");
		assertThat(held).hasSizeBetween(100, 1_001);
	}

}
