package io.github.lockspring.testsupport.history;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The events that {@link EventLog} wrote.
 *
 * @param holds all holds
 * @param acquisitions when locks were given to processes
 * @param counts how often each counted thing happened
 * @param faults what workers saw themselves
 * @param delays when a worker did not run although it wanted to
 * @since 0.1
 */
public record RecordedEvents(List<RecordedHold> holds, List<Acquisition> acquisitions, Map<String, Integer> counts,
		List<String> faults, List<Delay> delays) {

	/**
	 * A time for which a worker did not run.
	 *
	 * @param worker the worker
	 * @param from when it should have run
	 * @param to when it did
	 */
	public record Delay(String worker, long from, long to) {

	}

	/**
	 * A lock that the store granted to an instance. Times are those of
	 * {@link System#nanoTime()}.
	 *
	 * @param worker the process
	 * @param key the key
	 * @param token the fencing token of the first hold; the instance may pass the lock on
	 * inside itself, with the next numbers
	 * @param asked before the store was asked
	 * @param acquired after it had answered
	 * @param lease the length of the lease, in nanoseconds
	 */
	public record Acquisition(String worker, String key, long token, long asked, long acquired, long lease) {
	}

	RecordedEvents() {
		this(new ArrayList<>(), new ArrayList<>(), new TreeMap<>(), new ArrayList<>(), new ArrayList<>());
	}

	/**
	 * Reads files.
	 * @param files by the name of the worker that wrote it
	 */
	public static RecordedEvents read(Map<String, Path> files) throws IOException {
		RecordedEvents events = new RecordedEvents();
		for (Map.Entry<String, Path> file : files.entrySet()) {
			events.add(file.getKey(), Files.readString(file.getValue()));
		}
		return events;
	}

	/** Returns the holds that were valid for some time. */
	public List<RecordedHold> validHolds() {
		return this.holds.stream().filter(RecordedHold::wasValid).toList();
	}

	void add(String worker, String text) {
		Map<Long, RecordedHold> begun = new LinkedHashMap<>();
		Set<Long> ended = new HashSet<>();
		// a line without its end was being written when the worker was killed
		text.substring(0, text.lastIndexOf('\n') + 1).lines().forEach((line) -> read(worker, line, begun, ended));
		this.holds.addAll(begun.values());
	}

	private void read(String worker, String line, Map<Long, RecordedHold> begun, Set<Long> ended) {
		String[] words = line.split(" ");
		switch (words[0]) {
			case "B" -> begun.put(number(words, 1), new RecordedHold(worker, number(words, 1), words[2],
					number(words, 3), number(words, 4), number(words, 5), number(words, 6), number(words, 7)));
			case "A" -> this.acquisitions.add(new Acquisition(worker, words[1], number(words, 2), number(words, 3),
					number(words, 4), number(words, 5)));
			case "D" -> this.delays.add(new Delay(worker, number(words, 1), number(words, 2)));
			case "C" -> count(line.substring(2));
			case "F" -> this.faults.add(worker + ": " + line.substring(2));
			default -> {
				if (begun.computeIfPresent(number(words, 1), (number, hold) -> change(hold, words, ended)) == null) {
					throw new IllegalArgumentException("An event before its beginning: " + line);
				}
			}
		}
	}

	private RecordedHold change(RecordedHold hold, String[] words, Set<Long> ended) {
		switch (words[0]) {
			case "V" -> {
				return ended.contains(hold.number()) ? hold : hold.until(Math.max(hold.until(), number(words, 2)));
			}
			case "L" -> {
				return hold.lease(Math.max(hold.lease(), number(words, 2)));
			}
			case "R", "E" -> {
				if (words[0].equals("E")) {
					ended.add(hold.number());
				}
				return hold.until(Math.min(hold.until(), number(words, 2)));
			}
			case "X" -> {
				count(words[2]);
				return hold;
			}
			default -> throw new IllegalArgumentException("Unknown event: " + String.join(" ", words));
		}
	}

	private void count(String what) {
		this.counts.merge(what, 1, Integer::sum);
	}

	private static long number(String[] words, int index) {
		return Long.parseLong(words[index]);
	}

}
