package io.github.lockspring.benchmarks.contention;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

import io.github.lockspring.benchmarks.adapter.AdapterKind;
import io.github.lockspring.benchmarks.adapter.LockAdapter;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The benchmark's own alarm.
 */
class OverlapTests {

	private static final Scenario SECTIONS_OF_5_MS = Scenario.of("hot-4x8-5ms");

	private static final int MAX_RUNS = 20;

	@TempDir
	private Path directory;

	private Cells cells;

	@BeforeEach
	void mapCells() throws IOException {
		this.cells = Cells.map(this.directory.resolve("cells"), 2);
	}

	@Test
	void seesThatAnAdapterDoesNotLock() throws Exception {
		Answer answer = run(new NoLock(), (each) -> each.violations() > 0);
		assertThat(answer.sections()).isPositive();
		assertThat(answer.violations()).isPositive();
		assertThat(measurement(answer).violations()).isPositive();
	}

	@Test
	void isSilentWhenAnAdapterLocks() throws Exception {
		Answer answer = run(new LocalLock(), OverlapTests::hasWaits);
		assertThat(answer.sections()).isPositive().isEqualTo(this.cells.counted());
		assertThat(answer.waits().getTotalCount()).isPositive();
		assertThat(measurement(answer).violations()).isZero();
	}

	@Test
	void countsAnUpdateThatWasLost() throws Exception {
		Answer answer = run(new LocalLock(), OverlapTests::hasWaits);
		this.cells.count(1);
		assertThat(measurement(answer).violations()).isOne();
	}

	@Test
	void anotherMappingOfTheFileIsTheSameMemory() throws IOException {
		Cells other = Cells.map(this.directory.resolve("cells"), 2);
		assertThat(this.cells.enter(0, 1)).isTrue();
		assertThat(other.enter(0, 2)).isFalse();
		assertThat(other.enter(1, 2)).isTrue();
		assertThat(other.exit(0, 2)).isFalse();
		assertThat(this.cells.exit(0, 1)).isTrue();
		assertThat(other.enter(0, 2)).isTrue();
	}

	/**
	 * Again, if a busy machine let too few threads run in the time of the measurement.
	 */
	private Answer run(LockAdapter adapter, Predicate<Answer> enough) throws InterruptedException {
		Answer answer;
		int runs = 0;
		do {
			this.cells.clear();
			answer = new WorkerRun(adapter, this.cells,
					new Order(AdapterKind.FLOOR, SECTIONS_OF_5_MS, System.currentTimeMillis(), 50, 250))
				.call();
		}
		while (!enough.test(answer) && ++runs < MAX_RUNS);
		return answer;
	}

	private static boolean hasWaits(Answer answer) {
		return answer.waits().getTotalCount() > 0;
	}

	private Measurement measurement(Answer answer) {
		return new Measurement(SECTIONS_OF_5_MS, AdapterKind.FLOOR, 1, 1, List.of(answer), this.cells.counted(),
				new CommandStats(Map.of(), 0), 0);
	}

	/**
	 * Good for one process.
	 */
	private static final class LocalLock implements LockAdapter {

		private final ReentrantLock lock = new ReentrantLock(true);

		@Override
		public void runLocked(String key, Runnable section) {
			this.lock.lock();
			try {
				section.run();
			}
			finally {
				this.lock.unlock();
			}
		}

		@Override
		public void close() {
		}

	}

}
