package io.github.lockspring;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for {@link LockRequest}.
 */
class LockRequestTests {

	private static final LockRequest REQUEST = LockRequest.of("order:42");

	private static final Duration TTL = Duration.ofSeconds(30);

	@Test
	void renewalIsWhatWasAskedForInAnyOrder() {
		assertThat(REQUEST.locks().get(0).renew()).isTrue();
		assertThat(REQUEST.ttl(TTL).locks().get(0).renew()).isFalse();
		assertThat(REQUEST.ttl(TTL).renew().locks().get(0).renew()).isTrue();
		assertThat(REQUEST.renew().ttl(TTL).locks().get(0).renew()).isTrue();
		assertThat(REQUEST.renew().waitTime(TTL).onLost(OnLost.NOTIFY).name("orders").ttl(TTL).locks().get(0).renew())
			.isTrue();
	}

	@Test
	void longestHoldWithATtlNeedsRenewal() {
		Duration hour = Duration.ofHours(1);
		assertThat(REQUEST.renew().maxHold(hour).ttl(TTL).locks().get(0).maxHold()).isEqualTo(hour);
		assertThatIllegalArgumentException().isThrownBy(() -> REQUEST.maxHold(hour).ttl(TTL))
			.withMessageContaining("Add renew");
	}

}
