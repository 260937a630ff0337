package io.github.lockspring.readme;

import java.time.LocalDate;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.OnLost;

import org.springframework.stereotype.Service;

/**
 * Leases of different lengths.
 */
@Service
public class ReportService {

	@DistributedLock(name = "report", key = "#day", ttl = "10s", maxHold = "10m")
	public void write(LocalDate day) {
		// renewed for as long as this runs, 10 minutes at most
	}

	@DistributedLock(name = "archive", key = "#day", ttl = "10m", renew = false)
	public void archive(LocalDate day) {
		// not renewed: after 10 minutes the lock is gone
	}

	@DistributedLock(name = "export", key = "#day", onLost = OnLost.INTERRUPT)
	public void export(LocalDate day) {
		// a loss interrupts this thread
	}

}
