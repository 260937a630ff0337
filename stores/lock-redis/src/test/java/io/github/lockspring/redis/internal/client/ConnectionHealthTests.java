package io.github.lockspring.redis.internal.client;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link ConnectionHealth}.
 */
class ConnectionHealthTests {

	private final ConnectionHealth health = new ConnectionHealth(Duration.ofSeconds(1));

	@Test
	void serverIsLateAfterATimeoutAndSilentAfterThree() {
		this.health.sent("a", at(0));
		this.health.sent("a", at(2));
		assertThat(this.health.isLate("a", at(1))).isFalse();
		assertThat(this.health.isLate("a", at(1.5))).isTrue();
		assertThat(this.health.isSilent("a", at(3))).isFalse();
		assertThat(this.health.isSilent("a", at(3.5))).isTrue();
		assertThat(this.health.isSilent("b", at(3.5))).isFalse();
	}

	@Test
	void replyEndsTheSilenceOfItsServerAndOfAllTogether() {
		for (String shard : new String[] { "a", "b", RedisConnections.ANY_SHARD }) {
			this.health.sent(shard, at(0));
		}
		this.health.replied("a", at(0));
		assertThat(this.health.isSilent("a", at(9))).isFalse();
		assertThat(this.health.isSilent(RedisConnections.ANY_SHARD, at(9))).isFalse();
		assertThat(this.health.isSilent("b", at(9))).isTrue();
	}

	@Test
	void connectionIsIdleThirtySecondsAfterTheLastRequestWithAReply() {
		assertThat(this.health.isIdle("a", at(99))).as("never used").isFalse();
		this.health.replied("a", at(1));
		this.health.sent("a", at(5));
		assertThat(this.health.isIdle("a", at(31))).isFalse();
		assertThat(this.health.isIdle("a", at(31.5))).isTrue();
		assertThat(this.health.isIdle("b", at(31.5))).isFalse();
		this.health.replaced("a", at(32));
		assertThat(this.health.isIdle("a", at(99))).isFalse();
	}

	@Test
	void newConnectionStartsAnew() {
		this.health.sent("a", at(0));
		this.health.sent("b", at(0));
		this.health.replaced("a", at(9));
		assertThat(this.health.isSilent("a", at(9))).isFalse();
		assertThat(this.health.isSilent("b", at(9))).isTrue();
		this.health.replaced(RedisConnections.ANY_SHARD, at(9));
		assertThat(this.health.isSilent("b", at(9))).isFalse();
	}

	@Test
	void connectionIsReplacedOnceForAllThatFailedOnIt() {
		this.health.replaced(RedisConnections.ANY_SHARD, at(0));
		assertThat(this.health.mayReplace(at(-0.1), at(1))).as("sent on the one before").isFalse();
		assertThat(this.health.mayReplace(at(0.1), at(0.2))).as("too soon").isFalse();
		assertThat(this.health.mayReplace(at(0.5), at(1))).isTrue();
		assertThat(this.health.mayReplace(at(0.6), at(2))).as("again for the same").isFalse();
		assertThat(this.health.mayReplace(at(1.5), at(2))).isTrue();
	}

	private static long at(double seconds) {
		return (long) (seconds * 1e9);
	}

}
