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
		assertThat(this.silences.unanswered("b", ago(61))).isFalse();
		assertThat(this.silences.unanswered("a", ago(61))).isFalse();
	}

	@Test
	void answerEndsTheSilenceOfItsLane() {
		this.silences.unanswered("a", ago(50));
		this.silences.unanswered("b", ago(60));
		this.silences.answered("b");
		assertThat(this.silences.unanswered("b", ago(50))).isFalse();
		this.silences.forget();
		assertThat(this.silences.unanswered("a", ago(70))).isTrue();
	}

	private static long ago(int seconds) {
		return System.nanoTime() - Duration.ofSeconds(seconds).toNanos();
	}

}
