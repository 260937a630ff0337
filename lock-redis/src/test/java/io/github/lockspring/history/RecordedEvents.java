package io.github.lockspring.history;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Reads what {@link EventLog} wrote.
 *
 * @param holds all holds
 * @param acquisitions when locks were given to processes
 * @param counts how often each counted thing happened
 * @param faults what workers saw themselves
 * @param delays when a worker did not run although it wanted to
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

	void add(String worker, String text) {
		Map<Long, Draft> drafts = new LinkedHashMap<>();
		int begin = 0;
		int end;
		// a line without its end was being written when the worker was killed
		while ((end = text.indexOf('\n', begin)) >= 0) {
			read(worker, text.substring(begin, end), drafts);
			begin = end + 1;
		}
		drafts.values().forEach((draft) -> this.holds.add(draft.finished()));
	}

	private void read(String worker, String line, Map<Long, Draft> drafts) {
		String[] words = line.split(" ");
		switch (words[0]) {
			case "B" -> {
				long number = Long.parseLong(words[1]);
				drafts.put(number,
						new Draft(new RecordedHold(worker, number, words[2], Long.parseLong(words[3]),
								Long.parseLong(words[4]), Long.parseLong(words[5]), Long.parseLong(words[6]), 0),
								Long.parseLong(words[7])));
			}
			case "A" -> this.acquisitions.add(new Acquisition(worker, words[1], Long.parseLong(words[2]),
					Long.parseLong(words[3]), Long.parseLong(words[4]), Long.parseLong(words[5])));
			case "D" -> this.delays.add(new Delay(worker, Long.parseLong(words[1]), Long.parseLong(words[2])));
			case "C" -> count(line.substring(2));
			case "F" -> this.faults.add(worker + ": " + line.substring(2));
			default -> {
				Draft draft = drafts.get(Long.parseLong(words[1]));
				if (draft == null) {
					throw new IllegalArgumentException("An event before its beginning: " + line);
				}
				draft.add(words);
				if (words[0].equals("X")) {
					count(words[2]);
				}
			}
		}
	}

	private void count(String what) {
		this.counts.merge(what, 1, Integer::sum);
	}

	private static final class Draft {

		private final RecordedHold begun;

		private long until;

		private long lease;

		private boolean ended;

		Draft(RecordedHold begun, long until) {
			this.begun = begun;
			this.until = until;
			this.lease = begun.lease();
		}

		void add(String[] words) {
			switch (words[0]) {
				case "V" -> {
					if (!this.ended) {
						this.until = Math.max(this.until, Long.parseLong(words[2]));
					}
				}
				case "L" -> this.lease = Math.max(this.lease, Long.parseLong(words[2]));
				case "R" -> this.until = Math.min(this.until, Long.parseLong(words[2]));
				case "E" -> {
					this.ended = true;
					this.until = Math.min(this.until, Long.parseLong(words[2]));
				}
				case "X" -> {
				}
				default -> throw new IllegalArgumentException("Unknown event: " + String.join(" ", words));
			}
		}

		RecordedHold finished() {
			RecordedHold hold = this.begun;
			return new RecordedHold(hold.worker(), hold.number(), hold.key(), hold.token(), hold.asked(),
					hold.granted(), this.lease, this.until);
		}

	}

}
