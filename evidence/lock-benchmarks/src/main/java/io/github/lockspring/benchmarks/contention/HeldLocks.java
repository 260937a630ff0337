package io.github.lockspring.benchmarks.contention;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.benchmarks.adapter.AdapterKind;
import io.github.lockspring.benchmarks.contention.HeldResult.Leases;
import io.github.lockspring.testsupport.process.JavaProcess;
import io.github.lockspring.testsupport.redis.RedisServer;
import io.github.lockspring.testsupport.redis.RespClient;

/**
 * Has a process hold many locks, and watches their keys from outside meanwhile.
 *
 * @param locks how many
 * @param ttl their lease
 * @param time for how long
 */
record HeldLocks(int locks, Duration ttl, Duration time) {

	private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

	private static final int BATCH = 500;

	HeldResult run(AdapterKind adapter, Path logs) throws IOException, InterruptedException {
		try (RedisServer redis = RedisServer.start();
				JavaProcess worker = new JavaProcess("holder-" + adapter.id(), logs, List.of("-Xmx2g"),
						HoldWorker.class, List.of(String.valueOf(redis.port()), String.valueOf(this.ttl.toMillis()),
								adapter.id(), String.valueOf(this.locks)))) {
			String[] taken = worker.hear(Fleet.PATIENCE).split(" ");

			CommandStats before = CommandStats.of(redis);
			worker.say("cpu");
			long cpuBefore = Long.parseLong(worker.hear(Fleet.PATIENCE));
			long start = System.nanoTime();
			Leases leases = watch(redis, adapter);
			worker.say("cpu");
			String[] held = worker.hear(Fleet.PATIENCE).split(" ");
			double seconds = (System.nanoTime() - start) / 1e9;
			CommandStats.Command sent = CommandStats.of(redis).since(before).sent(adapter.directCommands());

			worker.say("heap");
			long heap = Long.parseLong(worker.hear(Fleet.PATIENCE));

			worker.say("release");
			String[] released = worker.hear(Fleet.PATIENCE).split(" ", 3);
			long[] left = left(redis, adapter);
			worker.say("end");
			return new HeldResult(adapter, this.locks, this.ttl.toMillis(), seconds, Long.parseLong(taken[1]),
					Long.parseLong(released[0]), (Long.parseLong(held[0]) - cpuBefore) / 1e9, heap, sent.micros() / 1e6,
					sent.calls(), Integer.parseInt(taken[0]), Integer.parseInt(held[1]), leases,
					Long.parseLong(released[1]), released[2], left[0], left[1], left[2]);
		}
	}

	private Leases watch(RedisServer redis, AdapterKind adapter) throws IOException, InterruptedException {
		Leases leases = Leases.NONE;
		long start = System.nanoTime();
		try (RespClient client = redis.connect()) {
			for (long look = start; look - start < this.time.toNanos(); look += LOOK_NANOS) {
				TimeUnit.NANOSECONDS.sleep(look - System.nanoTime());
				leases = look(client, adapter, leases);
			}
		}
		return leases;
	}

	/**
	 * One look at all keys, in batches that do not keep others waiting for long.
	 */
	private Leases look(RespClient redis, AdapterKind adapter, Leases before) throws IOException {
		Leases leases = before;
		for (int from = 0; from < this.locks; from += BATCH) {
			int to = Math.min(from + BATCH, this.locks);
			for (int i = from; i < to; i++) {
				redis.send("PTTL", adapter.redisKey(HeldResult.KEY + i));
			}
			for (int i = from; i < to; i++) {
				leases = leases.and((Long) Objects.requireNonNull(redis.read()), this.ttl.toMillis());
			}
		}
		return leases;
	}

	private static long[] left(RedisServer redis, AdapterKind adapter) {
		String lock = adapter.redisKey("");
		long[] left = new long[3];
		for (String key : redis.keys()) {
			left[key.startsWith(lock) ? 0 : 1]++;
			left[2] += (redis.pttl(key) == -1) ? 1 : 0;
		}
		return left;
	}

}
