package io.github.lockspring.redis.internal.client;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link UnresponsiveNodes}.
 */
class UnresponsiveNodesTests {

	private final UnresponsiveNodes nodes = new UnresponsiveNodes(Duration.ofMinutes(1));

	@Test
	void limitIsExceededOncePerPeriod() {
		assertThat(this.nodes.timedOut("a", ago(30))).isFalse();
		assertThat(this.nodes.timedOut("b", ago(61))).isTrue();
		assertThat(this.nodes.timedOut("b", ago(1))).isFalse();
		assertThat(this.nodes.timedOut("b", ago(61))).isFalse();
		assertThat(this.nodes.timedOut("a", ago(61))).isFalse();
	}

	@Test
	void replyResetsItsShardAndRequestsToAnyShard() {
		for (String shard : new String[] { "a", "b", RedisConnections.ANY_SHARD }) {
			assertThat(this.nodes.timedOut(shard, ago(30))).isFalse();
		}
		this.nodes.replied("a");
		assertThat(this.nodes.timedOut("a", ago(61))).isTrue();
		assertThat(this.nodes.timedOut(RedisConnections.ANY_SHARD, ago(61))).isTrue();
		assertThat(this.nodes.timedOut("b", ago(61))).isFalse();
	}

	@Test
	void resetStartsAllPeriodsAnew() {
		assertThat(this.nodes.timedOut("a", ago(59))).isFalse();
		this.nodes.reset();
		assertThat(this.nodes.timedOut("a", ago(1))).isFalse();
		assertThat(this.nodes.timedOut("a", ago(61))).isFalse();
	}

	private static long ago(int seconds) {
		return System.nanoTime() - Duration.ofSeconds(seconds).toNanos();
	}

}
