package io.github.lockspring.redis;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Silences}.
 */
class SilencesTests {

	private final Silences silences = new Silences(Duration.ofMinutes(1));

	@Test
	void silenceIsTooLongOnceInEachTime() {
		assertThat(this.silences.unanswered("a", ago(30))).isFalse();
		assertThat(this.silences.unanswered("b", ago(61))).isTrue();
		assertThat(this.silences.unanswered("b", ago(1))).isFalse();
		assertThat(this.silences.unanswered("b", ago(61))).isFalse();
		assertThat(this.silences.unanswered("a", ago(61))).isFalse();
	}

	@Test
	void answerEndsTheSilenceOfItsLaneAndOfThoseWhoAskAnybody() {
		for (String shard : new String[] { "a", "b", RedisConnections.ANY_LANE }) {
			assertThat(this.silences.unanswered(shard, ago(30))).isFalse();
		}
		this.silences.answered("a");
		assertThat(this.silences.unanswered("a", ago(61))).isTrue();
		assertThat(this.silences.unanswered(RedisConnections.ANY_LANE, ago(61))).isTrue();
		assertThat(this.silences.unanswered("b", ago(61))).isFalse();
	}

	@Test
	void allSilencesBeginAnew() {
		assertThat(this.silences.unanswered("a", ago(59))).isFalse();
		this.silences.forget();
		assertThat(this.silences.unanswered("a", ago(1))).isFalse();
		assertThat(this.silences.unanswered("a", ago(61))).isFalse();
	}

	private static long ago(int seconds) {
		return System.nanoTime() - Duration.ofSeconds(seconds).toNanos();
	}

}
