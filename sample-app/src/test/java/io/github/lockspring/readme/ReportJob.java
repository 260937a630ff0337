package io.github.lockspring.readme;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.OnBusy;

import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * The job of the README.
 */
@Component
public class ReportJob {

	private int runs;

	@Scheduled(cron = "0 0 3 * * *")
	@DistributedLock(name = "report-job", key = "'all'", minHold = "1m", onBusy = OnBusy.SKIP)
	public void run() {
		// runs on one instance
		this.runs++;
	}

	int runs() {
		return this.runs;
	}

}
