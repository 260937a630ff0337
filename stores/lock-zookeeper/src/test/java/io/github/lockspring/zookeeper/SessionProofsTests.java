package io.github.lockspring.zookeeper;

import java.util.concurrent.ThreadLocalRandom;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What writes prove about a session (Z7), with a timeout of 600.
 */
class SessionProofsTests {

	private static final long TIMEOUT = 600;

	private final SessionProofs proofs = new SessionProofs();

	private void write(long... times) {
		for (long time : times) {
			this.proofs.add(time, TIMEOUT);
		}
	}

	private long provenUntil() {
		return this.proofs.validUntil(-1, TIMEOUT);
	}

	@Test
	void nothingIsProvenWithoutAWrite() {
		assertThat(this.proofs.validUntil(17, TIMEOUT)).isEqualTo(17);
		assertThat(this.proofs.validAfter(17, TIMEOUT)).isEqualTo(117);
	}

	@Test
	void firstWriteProvesASixth() {
		write(1000);
		assertThat(provenUntil()).isEqualTo(1100);
	}

	/** They may be between the same two reports of their server. */
	@Test
	void writesWithinAThirdProveNoMoreThanTheLastOne() {
		write(1000, 1050, 1100, 1199);
		assertThat(provenUntil()).isEqualTo(1299);
	}

	@Test
	void writesAThirdApartProveHalfOfTheTimeout() {
		write(1000, 1200);
		assertThat(provenUntil()).isEqualTo(1500);
		write(1400, 1600, 1800);
		assertThat(provenUntil()).isEqualTo(2100);
	}

	@Test
	void writesBetweenThemAddNothing() {
		write(1000, 1200, 1250, 1300, 1399);
		assertThat(provenUntil()).isEqualTo(1500);
		write(1400);
		assertThat(provenUntil()).isEqualTo(1700);
	}

	/** 1000 is a third older than 1250, and 1100 is not. */
	@Test
	void latestWriteThatIsAThirdOlderCounts() {
		write(1000, 1100, 1250);
		assertThat(provenUntil()).isEqualTo(1500);
		write(1300);
		assertThat(provenUntil()).isEqualTo(1600);
	}

	@Test
	void oldWriteProvesNoMoreThanTheLastOne() {
		write(1000, 1600);
		assertThat(provenUntil()).isEqualTo(1700);
		write(1_000_000);
		assertThat(provenUntil()).isEqualTo(1_000_100);
		assertThat(this.proofs.validAfter(1_000_150, TIMEOUT)).isEqualTo(1_000_250);
	}

	@Test
	void answersInAnotherOrderChangeNothing() {
		write(1000, 1200, 1100, 900);
		assertThat(provenUntil()).isEqualTo(1500);
	}

	@Test
	void timesMayOverflow() {
		write(Long.MAX_VALUE - 100, Long.MIN_VALUE + 99, Long.MIN_VALUE + 110);
		assertThat(this.proofs.validUntil(0, TIMEOUT)).isEqualTo(Long.MIN_VALUE + 399);
	}

	/** The store's timer writes at each twelfth, so one of its writes may be late. */
	@Test
	void writeProvesAThirdIfThereIsOneInEachSixth() {
		write(0);
		for (long time = 50; time < 10_000; time += ThreadLocalRandom.current().nextLong(1, 95)) {
			long after = this.proofs.validAfter(time, TIMEOUT);
			write(time);
			assertThat(provenUntil()).isEqualTo(after).isLessThanOrEqualTo(time + 300);
			if (time >= 400) {
				assertThat(provenUntil() - time).isGreaterThanOrEqualTo(190);
			}
		}
	}

	@Test
	void isNeverMoreThanTheRule() {
		long[] times = new long[400];
		for (int i = 1; i < times.length; i++) {
			times[i] = times[i - 1] + ThreadLocalRandom.current().nextLong(1, 120);
			write(times[i - 1]);
			long last = times[i - 1];
			long rule = last + 100;
			for (int j = 0; j < i; j++) {
				if (last - times[j] >= 200) {
					rule = Math.max(rule, Math.min(last + 300, times[j] + 500));
				}
			}
			assertThat(provenUntil()).isBetween(rule - TIMEOUT / 48, rule);
		}
	}

}
