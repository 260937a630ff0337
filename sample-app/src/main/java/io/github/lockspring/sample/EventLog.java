package io.github.lockspring.sample;

import java.time.LocalTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.github.lockspring.LockEvent;
import io.github.lockspring.LockListener;
import io.github.lockspring.fencing.StaleFencingTokenException;

import org.springframework.stereotype.Component;

/**
 * Remembers what happened to this instance's locks, for the page. Every bean of type
 * {@link LockListener} is told.
 */
@Component
class EventLog implements LockListener {

	private static final int SIZE = 60;

	private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss.SSS");

	private final Deque<Entry> entries = new ArrayDeque<>();

	private final Map<String, Integer> counts = new TreeMap<>();

	private String redisState = "not asked yet";

	@Override
	public synchronized void onLockEvent(LockEvent event) {
		if (event instanceof LockEvent.Acquired acquired) {
			this.redisState = "up";
			add("acquired", event,
					"after " + acquired.waited().toMillis() + " ms, fencing token " + acquired.fencingToken());
		}
		else if (event instanceof LockEvent.Released released) {
			add("released", event, "after " + released.held().toMillis() + " ms");
		}
		else if (event instanceof LockEvent.NotAcquired busy) {
			this.redisState = "up";
			add("busy", event, "gave up after " + busy.waited().toMillis() + " ms");
		}
		else if (event instanceof LockEvent.Unavailable unavailable) {
			this.redisState = "down";
			add("unavailable", event, String.valueOf(unavailable.cause().getMessage()));
		}
		else if (event instanceof LockEvent.Lost lost) {
			add("lost", event, "after " + lost.held().toMillis() + " ms: " + lost.reason());
		}
	}

	/**
	 * Notes that the database has refused a late writer. That is no event of a lock: the
	 * lock was lost before.
	 * @param refusal what the writer was told
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
		return new Snapshot(this.redisState, Map.copyOf(this.counts), List.copyOf(this.entries));
	}

	/**
	 * What has happened so far.
	 *
	 * @param redis what the last attempt to take a lock says about Redis
	 * @param counts how often each outcome was seen
	 * @param entries the latest events, newest first
	 */
	record Snapshot(String redis, Map<String, Integer> counts, List<Entry> entries) {
	}

	/**
	 * One event.
	 *
	 * @param time when
	 * @param outcome acquired, released, busy, unavailable, lost or refused
	 * @param key the lock
	 * @param text more about it
	 */
	record Entry(String time, String outcome, String key, String text) {
	}

}
