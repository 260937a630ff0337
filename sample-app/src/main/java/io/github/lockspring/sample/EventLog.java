package io.github.lockspring.sample;

import java.time.LocalTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.github.lockspring.LockEvent;
import io.github.lockspring.StaleFencingTokenException;

import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;

/**
 * Records what happened to this instance's locks, for the page.
 */
@Component
class EventLog {

	private static final int SIZE = 60;

	private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss.SSS");

	private final Deque<Entry> entries = new ArrayDeque<>();

	private final Map<String, Integer> counts = new TreeMap<>();

	private String storeState = "not used yet";

	@EventListener
	synchronized void onLockEvent(LockEvent event) {
		if (event instanceof LockEvent.Acquired acquired) {
			this.storeState = "up";
			add("acquired", event,
					"after " + acquired.waited().toMillis() + " ms, fencing token " + acquired.fencingToken());
		}
		else if (event instanceof LockEvent.Released released) {
			add("released", event, "after " + released.held().toMillis() + " ms");
		}
		else if (event instanceof LockEvent.NotAcquired busy) {
			this.storeState = "up";
			add("busy", event, "gave up after " + busy.waited().toMillis() + " ms");
		}
		else if (event instanceof LockEvent.Unavailable) {
			this.storeState = "down";
			add("unavailable", event, "nothing ran; the log has the reason");
		}
		else if (event instanceof LockEvent.Lost lost) {
			add("lost", event, "after " + lost.held().toMillis() + " ms: " + lost.reason());
		}
	}

	/**
	 * Records that the database has refused a late writer. This is not an event of the
	 * lock, which was lost before.
	 * @param refusal the exception that the writer got
	 */
	synchronized void refused(StaleFencingTokenException refusal) {
		add("refused", refusal.getResource(),
				"token " + refusal.getToken() + ": the database has seen " + refusal.getLatest());
	}

	private void add(String outcome, LockEvent event, String text) {
		add(outcome, event.key(), text);
	}

	private void add(String outcome, String key, String text) {
		this.counts.merge(outcome, 1, Integer::sum);
		this.entries.addFirst(new Entry(LocalTime.now().format(TIME), outcome, key, text));
		if (this.entries.size() > SIZE) {
			this.entries.removeLast();
		}
	}

	synchronized Snapshot snapshot() {
		return new Snapshot(this.storeState, Map.copyOf(this.counts), List.copyOf(this.entries));
	}

	/**
	 * The events so far.
	 *
	 * @param store the state of the lock store according to the last acquisition
	 * @param counts the number of events by outcome
	 * @param entries the latest events, newest first
	 */
	record Snapshot(String store, Map<String, Integer> counts, List<Entry> entries) {
	}

	/**
	 * One event.
	 *
	 * @param time the time of day
	 * @param outcome acquired, released, busy, unavailable, lost or refused
	 * @param key the key of the lock
	 * @param text details
	 */
	record Entry(String time, String outcome, String key, String text) {
	}

}
