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
 * Records the lock events of this instance for the page.
 */
@Component
class EventLog {

	private static final int SIZE = 60;

	private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss.SSS");

	private final Deque<Entry> entries = new ArrayDeque<>();

	private final Map<String, Integer> counts = new TreeMap<>();

	private volatile String storeState = "not used yet";

	@EventListener
	void acquired(LockEvent.Acquired event) {
		this.storeState = "up";
		add("acquired", event.key(),
				"after " + event.waited().toMillis() + " ms, fencing token " + event.fencingToken());
	}

	@EventListener
	void released(LockEvent.Released event) {
		add("released", event.key(), "after " + event.held().toMillis() + " ms");
	}

	@EventListener
	void busy(LockEvent.NotAcquired event) {
		this.storeState = "up";
		add("busy", event.key(), "gave up after " + event.waited().toMillis() + " ms");
	}

	@EventListener
	void unavailable(LockEvent.Unavailable event) {
		this.storeState = "down";
		add("unavailable", event.key(), "nothing ran; the log has the reason");
	}

	@EventListener
	void lost(LockEvent.Lost event) {
		add("lost", event.key(), "after " + event.held().toMillis() + " ms: " + event.reason());
	}

	/**
	 * Records that the database has refused a late writer. No lock event reports this,
	 * since the lock was lost before.
	 * @param refusal the writer's exception
	 */
	void refused(StaleFencingTokenException refusal) {
		add("refused", refusal.getResource(),
				"token " + refusal.getToken() + ": the database has seen " + refusal.getLatest());
	}

	private synchronized void add(String outcome, String key, String text) {
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
