package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.LockEvent.Lost.Cause;
import io.github.lockspring.OnLost;
import io.github.lockspring.internal.engine.support.Time;
import io.github.lockspring.store.InstanceInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Durations and remedies in messages.
 */
class LockMessagesTests {

	@ParameterizedTest
	@CsvSource({ "-1, 0ms", "0, 0ms", "999, 999ms", "1000, 1s", "1099, 1s", "1100, 1.1s", "1999, 1.9s", "9999, 9.9s",
			"10000, 10s", "10100, 10s", "119999, 119s", "120000, 2m", "7199999, 119m", "7200000, 2h", "36000000, 10h" })
	void durationIsRoundedDownToWhatMatters(long millis, String text) {
		assertThat(LockMessages.duration(TimeUnit.MILLISECONDS.toNanos(millis))).isEqualTo(text);
	}

	@Test
	void lossOfARenewedLockNamesWhatToLookFor() {
		assertThat(lost(true, Cause.EXPIRED))
			.endsWith("(fencing token 7). Look for a pause of the process or an outage of"
					+ " the store that lasted longer than the ttl of 30s, or for a maxHold that ended; or set a longer ttl.");
	}

	@Test
	void lossOfAFixedLockNamesItsTtl() {
		assertThat(lost(false, Cause.EXPIRED))
			.endsWith("Its lease lasted for its ttl of 30s only: leave out renew = false, or set a longer ttl.");
	}

	@Test
	void otherLossesHaveTheirOwnRemedy() {
		assertThat(lost(true, Cause.NOT_OWNER)).endsWith("a failover or an eviction of the store.");
		assertThat(lost(true, Cause.FOUND_AT_RELEASE)).endsWith("a failover or an eviction of the store.");
		assertThat(lost(true, Cause.STOPPED)).contains("spring.lifecycle.timeout-per-shutdown-phase");
		assertThat(lost(true, Cause.FORCED)).endsWith("(fencing token 7).");
		assertThat(lost(true, Cause.THREAD_ENDED)).endsWith("(fencing token 7).");
	}

	// defect 27
	@Test
	void lossThatTheReleaseFindsDoesNotClaimAnotherOwner() {
		assertThat(lost(true, Cause.FOUND_AT_RELEASE)).contains("another owner may have had it");
	}

	private static String lost(boolean renew, Cause cause) {
		Duration ttl = Duration.ofSeconds(30);
		return LockMessages.lost(
				new LockParameters("a", null, ttl, renew, renew ? Time.FOREVER : ttl.toNanos(), 0, OnLost.THROW, false),
				cause, 7);
	}

	@Test
	void holderIsNamedWithItsAgeIfThatIsKnown() {
		InstanceInfo info = new InstanceInfo("billing", "host", 41);
		assertThat(LockMessages.heldBy(info, Duration.ofSeconds(12))).isEqualTo(" It is held by billing, for 12s.");
		assertThat(LockMessages.heldBy(info, null)).isEqualTo(" It is held by billing.");
	}

}
