package io.github.lockspring.bank;

import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.TreeMap;

import io.github.lockspring.bank.Audit.Books;

/**
 * What came out of some rounds, for people.
 */
final class Figures {

	private final String what;

	private final long begin = System.nanoTime();

	private final Map<String, Integer> rounds = new TreeMap<>();

	private final Map<String, Map<Outcome, Integer>> detained = new TreeMap<>();

	private final Map<Outcome, Integer> counts = new EnumMap<>(Outcome.class);

	private int count;

	private int overtaken;

	private int committedAfterALoss;

	private String note = "";

	Figures(String what) {
		this.what = what;
	}

	void add(Round round) {
		this.count++;
		this.rounds.merge(round.kind(), 1, Integer::sum);
		this.overtaken += round.overtaken() ? 1 : 0;
		Outcome outcome = round.outcome();
		if (outcome != null) {
			this.detained.computeIfAbsent(round.kind(), (key) -> new EnumMap<>(Outcome.class))
				.merge(outcome, 1, Integer::sum);
			this.committedAfterALoss += (outcome == Outcome.COMMITTED_AND_TOLD) ? 1 : 0;
		}
	}

	void add(Map<Outcome, Integer> counts) {
		counts.forEach((outcome, number) -> this.counts.merge(outcome, number, Integer::sum));
	}

	void note(String note) {
		this.note = "; " + note;
	}

	int rounds() {
		return this.count;
	}

	int count(Outcome outcome) {
		return this.counts.getOrDefault(outcome, 0);
	}

	long committed() {
		return count(Outcome.COMMITTED) + count(Outcome.COMMITTED_AND_TOLD);
	}

	int committedAfterALoss() {
		return this.committedAfterALoss;
	}

	void print(Audit audit, Books books) {
		long seconds = Duration.ofNanos(System.nanoTime() - this.begin).toSeconds();
		System.out.printf("""
				%s: %d rounds in %d s, %d transfers in the ledger
				  transfers: %s
				  rounds: %s
				  held up: overtaken in %d rounds; ends %s
				  books: %s%s
				""", this.what, this.count, seconds, audit.transfers(), Outcome.text(this.counts), this.rounds,
				this.overtaken, this.detained, books, this.note);
	}

}
