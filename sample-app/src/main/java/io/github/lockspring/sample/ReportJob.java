package io.github.lockspring.sample;

import java.time.LocalTime;
import java.time.format.DateTimeFormatter;
import java.util.List;

import io.github.lockspring.OnBusy;
import io.github.lockspring.annotation.DistributedLock;

import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * A job that every instance schedules and one of them runs.
 */
@Component
public class ReportJob {

	private static final String RUNS = "shop:report-runs";

	private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss");

	private final StringRedisTemplate redis;

	private final Instance instance;

	ReportJob(StringRedisTemplate redis, Instance instance) {
		this.redis = redis;
		this.instance = instance;
	}

	/**
	 * Writes the report. The others skip their turn, also those whose clock is some
	 * seconds late: the lock is kept for {@code minHold}, however short the work was.
	 */
	@Scheduled(cron = "${shop.report.cron}")
	@DistributedLock(key = "'report'", minHold = "${shop.report.min-hold}", onBusy = OnBusy.SKIP)
	public void run() {
		this.redis.opsForList().leftPush(RUNS, LocalTime.now().format(TIME) + " by " + this.instance.name());
		this.redis.opsForList().trim(RUNS, 0, 9);
	}

	/**
	 * The last ten runs on all instances.
	 * @return time and instance of each, the latest first
	 */
	public List<String> lastRuns() {
		return this.redis.opsForList().range(RUNS, 0, -1);
	}

}
