package io.github.lockspring.internal.engine.support;

import io.github.lockspring.internal.engine.support.ShardHealth.Outage;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * When a server is silent, and what is one outage.
 */
class ShardHealthTests {

	private static final long SECOND = 1_000_000_000;

	private static final long START = Long.MAX_VALUE - SECOND;

	private final ShardHealth health = new ShardHealth();

	private boolean fails(boolean silent, long seconds) {
		return this.health.failed("a", silent, true, START + seconds * SECOND);
	}

	private Outage answers(long seconds) {
		return this.health.answered("a", START + seconds * SECOND);
	}

	@Test
	void serverIsSilentFromARequestWithoutAnAnswerUntilAnyAnswer() {
		assertThat(this.health.isSilent("a")).isFalse();
		fails(true, 0);
		fails(false, 1);
		assertThat(this.health.isSilent("a")).isTrue();
		assertThat(this.health.isSilent("b")).isFalse();
		assertThat(answers(1)).isNull();
		assertThat(this.health.isSilent("a")).isFalse();
	}

	@Test
	void serverThatRefusesIsNotSilent() {
		fails(false, 0);
		assertThat(this.health.isSilent("a")).isFalse();
		assertThat(this.health.isGood()).isFalse();
	}

	@Test
	void firstFailureOfAnOutageIsReported() {
		assertThat(fails(true, 0)).isTrue();
		assertThat(fails(true, 1)).isFalse();
		assertThat(this.health.failed("b", true, true, START)).as("another server").isTrue();
	}

	@Test
	void failureThatIsNotReportedLeavesTheReportToTheNext() {
		assertThat(this.health.failed("a", true, false, START)).isFalse();
		assertThat(fails(false, 1)).isTrue();
	}

	@Test
	void serverThatAnswersNowAndThenHasOneOutage() {
		fails(true, 0);
		assertThat(answers(9)).isNull();
		assertThat(fails(true, 9)).isFalse();
		assertThat(answers(18)).isNull();
		assertThat(answers(19)).isEqualTo(new Outage(START, START + 9 * SECOND, false, true));
		assertThat(this.health.isGood()).isTrue();
		assertThat(fails(true, 20)).as("the next one").isTrue();
	}

}
