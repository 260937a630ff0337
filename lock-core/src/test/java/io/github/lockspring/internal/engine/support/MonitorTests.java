package io.github.lockspring.internal.engine.support;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * What happens after a monitor was left.
 */
class MonitorTests {

	private final Monitor monitor = new Monitor();

	private final List<Object> ran = new ArrayList<>();

	@Test
	void effectsRunInTheirOrderWhenTheMonitorHasBeenLeft() {
		try (Monitor entered = this.monitor.enter()) {
			entered.afterwards(() -> this.ran.add("a"));
			entered.afterwards(() -> this.ran.add("b"));
			entered.afterwards(() -> this.ran.add("c"));
			assertThat(this.ran).isEmpty();
		}
		assertThat(this.ran).containsExactly("a", "b", "c");
	}

	@Test
	void isNotEnteredInsideItself() {
		try (Monitor entered = this.monitor.enter()) {
			assertThat(entered).isSameAs(this.monitor);
			assertThatIllegalStateException().isThrownBy(this.monitor::enter);
			entered.afterwards(() -> this.ran.add("a"));
		}
		assertThat(this.ran).containsExactly("a");
	}

	@Test
	void aHundredThousandWaitersAreWoken() {
		try (Monitor entered = this.monitor.enter()) {
			IntStream.range(0, 100_000).forEach((i) -> entered.afterwards(() -> this.ran.add(i)));
		}
		assertThat(this.ran).hasSize(100_000);
	}

	@Test
	void effectsRunAlsoAfterOneThatFails() {
		assertThatThrownBy(() -> {
			try (Monitor entered = this.monitor.enter()) {
				for (String effect : List.of("a", "fails", "b", "fails", "c")) {
					entered.afterwards(() -> run(effect));
				}
			}
		}).isInstanceOf(IllegalStateException.class);
		assertThat(this.ran).containsExactly("a", "b", "c");
	}

	private void run(String effect) {
		if (effect.equals("fails")) {
			throw new IllegalStateException(effect);
		}
		this.ran.add(effect);
	}

}
