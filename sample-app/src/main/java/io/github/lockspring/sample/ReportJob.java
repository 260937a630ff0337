package io.github.lockspring.sample;

import java.time.LocalTime;
import java.time.format.DateTimeFormatter;
import java.util.List;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.OnBusy;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * A job that every instance schedules and one of them runs.
 */
@Component
public class ReportJob {

	private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss");

	private final JdbcTemplate jdbc;

	private final Instance instance;

	ReportJob(JdbcTemplate jdbc, Instance instance) {
		this.jdbc = jdbc;
		this.instance = instance;
	}

	/**
	 * Writes the report. The other instances skip the run, even if their clocks are a few
	 * seconds late, since the lock is kept for {@code minHold} even if the work ends
	 * sooner.
	 */
	@Scheduled(cron = "${shop.report.cron}")
	@DistributedLock(name = "report-job", key = "'all'", minHold = "${shop.report.min-hold}", onBusy = OnBusy.SKIP)
	public void run() {
		this.jdbc.update("INSERT INTO report_runs (run) VALUES (?)",
				LocalTime.now().format(TIME) + " by " + this.instance.name());
	}

	/**
	 * Returns the last ten runs on all instances.
	 * @return time and instance of each run, latest first
	 */
	public List<String> lastRuns() {
		return this.jdbc.queryForList("SELECT run FROM report_runs ORDER BY number DESC LIMIT 10", String.class);
	}

}
