package io.github.lockspring.lab.history;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/**
 * The events of a run, in the order in which the lab hears of them. Thread-safe.
 */
public final class History {

	/** A run of some seconds has some hundred; this bounds a recipe gone wild. */
	private static final int MAX_EVENTS = 20_000;

	private final List<LabEvent> events = new ArrayList<>();

	private long begin;

	private boolean begun;

	private boolean complete;

	/**
	 * Begins to record. Events before that are not recorded.
	 * @param nanoTime the time from which events count
	 */
	public synchronized void begin(long nanoTime) {
		this.begin = nanoTime;
		this.begun = true;
	}

	/** Ends the record. Later events are not recorded. */
	public synchronized void complete() {
		this.complete = true;
		notifyAll();
	}

	/**
	 * Records an event.
	 * @param lane what it happened to
	 * @param type what happened
	 * @param nanoTime when, in the time of {@code System.nanoTime()}
	 * @param details further facts by name
	 */
	public synchronized void add(String lane, String type, long nanoTime, Map<String, Object> details) {
		if (this.begun && !this.complete && this.events.size() < MAX_EVENTS) {
			this.events.add(new LabEvent(this.events.size(), millis(nanoTime), lane, type, details));
			notifyAll();
		}
	}

	/**
	 * Returns the time since the run began.
	 * @param nanoTime a time of {@code System.nanoTime()}
	 * @return milliseconds, with two digits after the point
	 */
	public synchronized double millis(long nanoTime) {
		return Math.max(0, Math.round((nanoTime - this.begin) / 1e4) / 100.0);
	}

	/**
	 * Returns the events from a number on.
	 * @param from the number of the first one
	 * @return the events
	 */
	public synchronized List<LabEvent> from(int from) {
		return List.copyOf(this.events.subList(Math.min(Math.max(from, 0), this.events.size()), this.events.size()));
	}

	/**
	 * Returns the number of events so far.
	 * @return the number
	 */
	public synchronized int size() {
		return this.events.size();
	}

	/**
	 * Waits for an event.
	 * @param from the number of the first event to look at
	 * @param wanted finds it
	 * @param millis the maximum wait
	 * @return whether it has happened
	 * @throws InterruptedException if the thread is interrupted
	 */
	public synchronized boolean await(int from, Predicate<LabEvent> wanted, long millis) throws InterruptedException {
		long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
		int next = from;
		while (true) {
			for (; next < this.events.size(); next++) {
				if (wanted.test(this.events.get(next))) {
					return true;
				}
			}
			long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
			if (left <= 0 || this.complete) {
				return false;
			}
			wait(left);
		}
	}

}
