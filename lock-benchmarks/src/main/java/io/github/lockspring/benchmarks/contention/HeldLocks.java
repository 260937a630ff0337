package io.github.lockspring.benchmarks.contention;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.benchmarks.adapter.AdapterKind;
import io.github.lockspring.benchmarks.contention.HeldResult.Leases;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.api.async.RedisAsyncCommands;

/**
 * Has a process hold many locks, and watches their keys from outside meanwhile.
 *
 * @param locks how many
 * @param ttl their lease
 * @param time for how long
 */
record HeldLocks(int locks, Duration ttl, Duration time) {

	private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

	HeldResult run(AdapterKind adapter) throws IOException, InterruptedException, ExecutionException {
		try (RedisProcess redis = RedisProcess.start();
				JavaProcess worker = JavaProcess.start(HoldWorker.class, "2g", List.of(String.valueOf(redis.port()),
						String.valueOf(this.ttl.toMillis()), adapter.id(), String.valueOf(this.locks)))) {
			String[] taken = worker.hear().split(" ");

			CommandStats before = redis.stats();
			worker.say("cpu");
			long cpuBefore = Long.parseLong(worker.hear());
			long start = System.nanoTime();
			Leases leases = watch(redis, adapter);
			worker.say("cpu");
			String[] held = worker.hear().split(" ");
			double seconds = (System.nanoTime() - start) / 1e9;
			CommandStats.Command sent = redis.stats().since(before).sent(adapter.directCommands());

			worker.say("release");
			String[] released = worker.hear().split(" ");
			String failure = worker.hear();
			long[] left = left(redis, adapter);
			worker.say("end");
			return new HeldResult(adapter, this.locks, this.ttl.toMillis(), seconds, Long.parseLong(taken[1]),
					Long.parseLong(released[0]), (Long.parseLong(held[0]) - cpuBefore) / 1e9, sent.micros() / 1e6,
					sent.calls(), Integer.parseInt(taken[0]), Integer.parseInt(held[1]), leases,
					Long.parseLong(released[1]), failure, left[0], left[1], left[2]);
		}
	}

	private Leases watch(RedisProcess redis, AdapterKind adapter) throws InterruptedException, ExecutionException {
		Leases leases = Leases.NONE;
		long start = System.nanoTime();
		for (long look = start; look - start < this.time.toNanos(); look += LOOK_NANOS) {
			TimeUnit.NANOSECONDS.sleep(look - System.nanoTime());
			leases = look(redis.asyncCommands(), adapter, leases);
		}
		return leases;
	}

	/**
	 * One look at all keys, in batches that do not keep others waiting for long.
	 */
	private Leases look(RedisAsyncCommands<String, String> redis, AdapterKind adapter, Leases before)
			throws InterruptedException, ExecutionException {
		Leases leases = before;
		List<RedisFuture<Long>> answers = new ArrayList<>();
		for (int i = 0; i < this.locks; i++) {
			answers.add(redis.pttl(adapter.redisKey(HeldResult.KEY + i)));
			if (answers.size() == 500 || i == this.locks - 1) {
				for (RedisFuture<Long> answer : answers) {
					leases = leases.and(answer.get(), this.ttl.toMillis());
				}
				answers.clear();
			}
		}
		return leases;
	}

	private static long[] left(RedisProcess redis, AdapterKind adapter) {
		String lock = adapter.redisKey("");
		long[] left = new long[3];
		for (String key : redis.commands().keys("*")) {
			left[key.startsWith(lock) ? 0 : 1]++;
			left[2] += (redis.commands().pttl(key) == -1) ? 1 : 0;
		}
		return left;
	}

}
