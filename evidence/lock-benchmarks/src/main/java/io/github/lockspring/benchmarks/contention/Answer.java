package io.github.lockspring.benchmarks.contention;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.zip.DataFormatException;

import org.HdrHistogram.Histogram;

/**
 * The observations of one worker in one run.
 *
 * @param sections all sections it ran, those of warm-up and end included
 * @param violations sections that were not alone
 * @param errors how often a lock could not be acquired or released
 * @param cpuNanos CPU time of the process during the whole run
 * @param counts sections that began in the measured time, for each thread
 * @param waits time from asking for a lock until the section begins, in nanoseconds
 * @param firstError the first of the errors, or empty
 */
record Answer(long sections, long violations, long errors, long cpuNanos, long[] counts, Histogram waits,
		String firstError) {

	private static final String DONE = "done";

	static Histogram newHistogram() {
		return new Histogram(2);
	}

	String line() {
		ByteBuffer buffer = ByteBuffer.allocate(this.waits.getNeededByteBufferCapacity());
		int length = this.waits.encodeIntoCompressedByteBuffer(buffer);
		String histogram = Base64.getEncoder().encodeToString(Arrays.copyOf(buffer.array(), length));
		String counts = LongStream.of(this.counts).mapToObj(String::valueOf).collect(Collectors.joining(","));
		String error = Base64.getEncoder().encodeToString(this.firstError.getBytes(StandardCharsets.UTF_8));
		return DONE + " " + this.sections + " " + this.violations + " " + this.errors + " " + this.cpuNanos + " "
				+ counts + " " + histogram + " " + error;
	}

	static Answer parse(String line) {
		String[] words = line.split(" ", -1);
		if (!words[0].equals(DONE)) {
			throw new IllegalStateException("A worker said: " + line);
		}
		try {
			Histogram waits = Histogram
				.decodeFromCompressedByteBuffer(ByteBuffer.wrap(Base64.getDecoder().decode(words[6])), 0);
			return new Answer(Long.parseLong(words[1]), Long.parseLong(words[2]), Long.parseLong(words[3]),
					Long.parseLong(words[4]), Arrays.stream(words[5].split(",")).mapToLong(Long::parseLong).toArray(),
					waits, new String(Base64.getDecoder().decode(words[7]), StandardCharsets.UTF_8));
		}
		catch (DataFormatException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
