package io.github.lockspring.benchmarks.contention;

import java.util.LinkedHashMap;
import java.util.Map;

import io.github.lockspring.benchmarks.adapter.AdapterKind;

/**
 * The cost of holding many locks for a while.
 *
 * @param adapter whose locks
 * @param locks how many
 * @param ttlMillis their lease
 * @param heldSeconds for how long they were held and watched
 * @param takenMillis time to take all of them
 * @param releasedMillis time to give all of them back
 * @param workerCpuSeconds CPU time of the process while it held them
 * @param heapBytes what the heap of the process contains with all locks and not with one,
 * the benchmark's own list of them and their keys included
 * @param redisSeconds Redis' time in the commands that the process sent meanwhile
 * @param commands how many these were
 * @param threadsWithOne threads of the process with one lock
 * @param threadsWithAll threads of the process with all locks
 * @param leases what was seen of the leases
 * @param failures how many locks could not be acquired or released, or were lost
 * @param firstFailure the first of these, or empty
 * @param keysLeft keys of locks afterwards
 * @param siblingsLeft other keys afterwards
 * @param immortalsLeft those of either kind without a TTL
 */
record HeldResult(AdapterKind adapter, int locks, long ttlMillis, double heldSeconds, long takenMillis,
		long releasedMillis, double workerCpuSeconds, long heapBytes, double redisSeconds, long commands,
		int threadsWithOne, int threadsWithAll, Leases leases, long failures, String firstFailure, long keysLeft,
		long siblingsLeft, long immortalsLeft) {

	/** The beginning of the locks' keys. */
	static final String KEY = "held-";

	boolean isBroken() {
		return this.leases.missing > 0 || this.failures > 0 || this.keysLeft > 0;
	}

	long heapBytesPerLock() {
		return this.heapBytes / (this.locks - 1);
	}

	Map<String, Object> toMap() {
		Map<String, Object> line = new LinkedHashMap<>();
		line.put("scenario", Scenario.HELD.id());
		line.put("adapter", this.adapter.id());
		line.put("locks", this.locks);
		line.put("ttlMillis", this.ttlMillis);
		line.put("heldSeconds", this.heldSeconds);
		line.put("takenMillis", this.takenMillis);
		line.put("releasedMillis", this.releasedMillis);
		line.put("workerCpuSeconds", this.workerCpuSeconds);
		line.put("heapBytes", this.heapBytes);
		line.put("redisSeconds", this.redisSeconds);
		line.put("commandsSent", this.commands);
		line.put("threadsWithOne", this.threadsWithOne);
		line.put("threadsWithAll", this.threadsWithAll);
		line.put("leasesSampled", this.leases.samples);
		line.put("shortestLeaseMillis", this.leases.shortestMillis);
		line.put("leasesBelowHalf", this.leases.belowHalf);
		line.put("leasesMissing", this.leases.missing);
		line.put("failures", this.failures);
		line.put("firstFailure", this.firstFailure);
		line.put("keysLeft", this.keysLeft);
		line.put("siblingsLeft", this.siblingsLeft);
		line.put("immortalsLeft", this.immortalsLeft);
		return line;
	}

	/**
	 * The TTLs of all locks' keys, read repeatedly.
	 *
	 * @param samples how many were seen
	 * @param shortestMillis the shortest of them
	 * @param belowHalf how many were shorter than half of the lease: renewed late
	 * @param missing how often a lock's key was gone
	 */
	record Leases(long samples, long shortestMillis, long belowHalf, long missing) {

		static final Leases NONE = new Leases(0, Long.MAX_VALUE, 0, 0);

		Leases and(long pttl, long ttlMillis) {
			if (pttl < 0) {
				return new Leases(this.samples + 1, this.shortestMillis, this.belowHalf, this.missing + 1);
			}
			return new Leases(this.samples + 1, Math.min(this.shortestMillis, pttl),
					this.belowHalf + ((pttl < ttlMillis / 2) ? 1 : 0), this.missing);
		}

	}

}
