package io.github.lockspring.bank;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * An order to move money from one account to another, and how far it came. Used by one
 * thread.
 *
 * @param id its name in the ledger
 * @param source the account that pays
 * @param target the account that receives
 * @param amount how much
 * @param steps how far it came
 */
record Transfer(String id, int source, int target, long amount, Set<Step> steps) {

	/**
	 * What a transfer may have reached.
	 */
	enum Step {

		/** The work began, in its transaction. */
		BEGUN,
		/** The transaction was committed. */
		COMMITTED,
		/** The transfer was held up by the test. */
		DETAINED

	}

	Transfer(String id, int source, int target, long amount) {
		this(id, source, target, amount, EnumSet.noneOf(Step.class));
	}

	/** What is locked, for the annotation. */
	public List<Integer> getAccounts() {
		return List.of(this.source, this.target);
	}

	void reach(Step step) {
		this.steps.add(step);
	}

	boolean has(Step step) {
		return this.steps.contains(step);
	}

}
