package io.github.lockspring.lab;

import java.util.Map;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.lab.history.Verdict.Link;
import org.jspecify.annotations.Nullable;

/**
 * The rule of Lockspring that answers each failure.
 */
final class Rules {

	private static final Map<String, String> TEXTS = Map.ofEntries(
			Map.entry("F01", "One command sets the lock together with its TTL."),
			Map.entry("F02", "After a crash the lock ends with its TTL, and waiters acquire it shortly afterwards."),
			Map.entry("F03",
					"renew = true extends the lease while the work runs; without it the loss is reported at the deadline."),
			Map.entry("F04", "Each ownership has an owner token of its own, and the release compares it."),
			Map.entry("F05", "A single script compares and deletes."),
			Map.entry("F06", "The renewal script compares the owner before it extends the lease."),
			Map.entry("F07",
					"A failed renewal is retried, and at the deadline the holder is informed by its own clock."),
			Map.entry("F08",
					"Renewal ends before the release on every way out of the work, and maxHold ends it for a holder that hangs."),
			Map.entry("F09", "Each acquisition has a fencing token, and the protected resource refuses an older one."),
			Map.entry("F10",
					"The next renewal detects the loss, and fencing tokens grow even after the loss of every key."),
			Map.entry("F11", "replica-acks waits for the replicas and otherwise releases the lock and fails."),
			Map.entry("F12",
					"With a minority of nodes down, locks work; with a majority down, the call fails clearly."),
			Map.entry("F13", "Requests go to all nodes at once, and a lease counts from before they were sent."),
			Map.entry("F14", "A node that has restarted has no vote until the longest TTL in use has passed."),
			Map.entry("F16", "Redis expires the key, and exactly one of many that race becomes the holder."),
			Map.entry("F17", "Correctness never depends on the wall clock of a client."),
			Map.entry("F20", "Acquiring again with the same owner token succeeds."),
			Map.entry("F22", "LockUnavailableException, distinct from a busy lock, within a bounded time."));

	private Rules() {
	}

	static @Nullable Link of(@Nullable String failure) {
		String text = (failure != null) ? TEXTS.get(failure) : null;
		return (failure == null || text == null) ? null
				: new Link(text, "docs/understand/failures.md#" + failure.toLowerCase(java.util.Locale.ROOT));
	}

}
