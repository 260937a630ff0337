package io.github.lockspring;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link LockRequest}.
 */
class LockRequestTests {

	private static final LockRequest REQUEST = LockRequest.of("order:42");

	private static final Duration TTL = Duration.ofSeconds(30);

	@Test
	void renewalIsWhatWasRequestedInAnyOrder() {
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

	@Test
	void otherKeysAreRequestedInTheSameWay() {
		LockRequest pattern = REQUEST.name("orders")
			.renew()
			.ttl(TTL)
			.maxHold(TTL.multipliedBy(2))
			.minHold(Duration.ofSeconds(1))
			.waitTime(Duration.ofSeconds(2))
			.onLost(OnLost.NOTIFY);
		LockRequest request = pattern.forKeys(List.of("b", "a", "b"));
		assertThat(request.locks()).extracting(LockSpec::key).containsExactly("a", "b");
		assertThat(request.waitTime()).isEqualTo(Duration.ofSeconds(2));
		assertThat(request.onLost()).isEqualTo(OnLost.NOTIFY);
		assertThat(request.ttl(TTL).locks().get(0).renew()).as("renewal was requested").isTrue();
		for (LockSpec lock : request.locks()) {
			assertThat(lock)
				.isEqualTo(new LockSpec(lock.key(), "orders", TTL, true, TTL.multipliedBy(2), Duration.ofSeconds(1)));
		}
	}

	@Test
	void patternOfSeveralKeysIsRefused() {
		assertThatIllegalStateException().isThrownBy(() -> LockRequest.of("a", "b").forKeys(List.of("c")));
		assertThatIllegalArgumentException().isThrownBy(() -> REQUEST.forKeys(List.of()))
			.withMessageContaining("at least one key");
		assertThatIllegalArgumentException().isThrownBy(() -> REQUEST.forKeys(List.of("")))
			.withMessageContaining("must not be null or empty");
	}

	@Test
	void sameKeyInDifferentWaysIsRefused() {
		assertThat(LockRequest.allOf(List.of(REQUEST, LockRequest.of("a"), REQUEST)).locks()).extracting(LockSpec::key)
			.containsExactly("a", "order:42");
		assertThatIllegalArgumentException().isThrownBy(() -> LockRequest.allOf(List.of(REQUEST, REQUEST.ttl(TTL))))
			.withMessageContaining("requested twice");
	}

}
