package io.github.lockspring.lab;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.github.lockspring.lab.MatrixState.Outcome;
import io.github.lockspring.lab.history.Code;
import io.github.lockspring.lab.history.Verdict;

/**
 * The outcomes of the cells so far. Thread-safe.
 */
final class Outcomes {

	private final Map<Cell, Outcome> outcomes = new LinkedHashMap<>();

	/** Adds the outcome of a run, unless it was cancelled. */
	synchronized void add(LabRun run) {
		Verdict verdict = run.verdict();
		if (verdict == null || verdict.code() == Code.CANCELLED) {
			return;
		}
		Cell cell = run.cell();
		Outcome before = this.outcomes.get(cell);
		int runs = (before != null) ? before.runs() : 0;
		int expected = (before != null) ? before.asExpectedRuns() : 0;
		this.outcomes.put(cell, new Outcome(cell.recipe(), cell.fault(), run.id(), verdict.code(),
				verdict.stuckSeconds(), verdict.asExpected(), runs + 1, expected + (verdict.asExpected() ? 1 : 0)));
	}

	synchronized List<Outcome> all() {
		return List.copyOf(this.outcomes.values());
	}

}
