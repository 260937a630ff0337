package io.github.lockspring.benchmarks.contention;

import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;

import io.github.lockspring.benchmarks.adapter.AdapterKind;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * All repetitions of one lock in one scenario.
 *
 * @param adapter the lock
 * @param runs its runs
 */
record Summary(AdapterKind adapter, List<Measurement> runs) {

	static @Nullable Summary find(List<Summary> rows, AdapterKind adapter) {
		return rows.stream().filter((row) -> row.adapter == adapter).findFirst().orElse(null);
	}

	double rate() {
		return median(Measurement::rate);
	}

	double median(ToDoubleFunction<Measurement> value) {
		return median(this.runs.stream().mapToDouble(value).toArray());
	}

	static double median(double... values) {
		double[] sorted = values.clone();
		Arrays.sort(sorted);
		int middle = sorted.length / 2;
		return (sorted.length % 2 == 1) ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
	}

	/**
	 * The median of the ratios of those runs that were made in the same repetition: what
	 * slows down the machine for a while then slows down both.
	 */
	double ratioTo(Summary other) {
		return median(this.runs.stream()
			.mapToDouble((run) -> run.rate() / other.inRepetition(run.repetition()).rate())
			.toArray());
	}

	private Measurement inRepetition(int repetition) {
		return this.runs.stream().filter((run) -> run.repetition() == repetition).findFirst().orElseThrow();
	}

	double waitMicros(double percentile) {
		return waits().getValueAtPercentile(percentile) / 1000.0;
	}

	double longestWaitMicros() {
		return waits().getMaxValue() / 1000.0;
	}

	private Histogram waits() {
		Histogram waits = Answer.newHistogram();
		this.runs.forEach((run) -> waits.add(run.waits()));
		return waits;
	}

	long violations() {
		return this.runs.stream().mapToLong(Measurement::violations).sum();
	}

	long errors() {
		return this.runs.stream().mapToLong(Measurement::errors).sum();
	}

	String firstError() {
		return this.runs.stream()
			.map(Measurement::firstError)
			.filter((error) -> !error.isEmpty())
			.findFirst()
			.orElse("");
	}

}
