package io.github.lockspring.benchmarks.peers;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.OnBusy;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.scheduling.annotation.Scheduled;

/**
 * The code on the page about switching from another lock, before and afterwards.
 */
class SwitchExamples {

	static class ShedLockJob {

		@Scheduled(cron = "0 0 3 * * *")
		@SchedulerLock(name = "report", lockAtMostFor = "10m", lockAtLeastFor = "1m")
		public void run() {
			report();
		}

		private void report() {
		}

	}

	static class Job {

		@Scheduled(cron = "0 0 3 * * *")
		@DistributedLock(name = "report-job", key = "'all'", maxHold = "10m", minHold = "1m", onBusy = OnBusy.SKIP)
		public void run() {
			report();
		}

		private void report() {
		}

	}

	static class RedissonService extends Orders {

		private final RedissonClient redisson;

		RedissonService(RedissonClient redisson) {
			this.redisson = redisson;
		}

		public void ship(long id) throws InterruptedException {
			RLock lock = this.redisson.getLock("order:" + id);
			if (!lock.tryLock(5, TimeUnit.SECONDS)) {
				throw new IllegalStateException("Order " + id + " is busy");
			}
			try {
				deliver(id);
			}
			finally {
				lock.unlock();
			}
		}

	}

	static class HomeMadeService extends Orders {

		private final StringRedisTemplate redis;

		HomeMadeService(StringRedisTemplate redis) {
			this.redis = redis;
		}

		public void ship(long id) {
			String key = "order:" + id;
			if (Boolean.TRUE.equals(this.redis.opsForValue().setIfAbsent(key, "locked", Duration.ofSeconds(30)))) {
				try {
					deliver(id);
				}
				finally {
					this.redis.delete(key);
				}
			}
		}

	}

	static class Service extends Orders {

		@DistributedLock(name = "order", key = "#id")
		public void ship(long id) {
			deliver(id);
		}

	}

	static class Orders {

		void deliver(long id) {
		}

	}

}
