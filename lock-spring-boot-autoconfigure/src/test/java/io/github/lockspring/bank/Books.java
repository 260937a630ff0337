package io.github.lockspring.bank;

import java.util.ArrayList;
import java.util.List;

/**
 * What an audit found.
 *
 * @param differences how much each account has more than the ledger says
 */
record Books(List<Long> differences) {

	/** Whether each account has what the ledger says. */
	boolean areRight() {
		return this.differences.stream().allMatch((difference) -> difference == 0);
	}

	/** What was made, or, negative, lost: the sum of all accounts should never change. */
	long made() {
		return this.differences.stream().mapToLong(Long::longValue).sum();
	}

	@Override
	public String toString() {
		if (areRight()) {
			return "each account has what the ledger says";
		}
		List<String> wrong = new ArrayList<>();
		for (int i = 0; i < this.differences.size(); i++) {
			if (this.differences.get(i) != 0) {
				wrong.add("account " + i + " %+d".formatted(this.differences.get(i)));
			}
		}
		return String.join(", ", wrong) + ": " + ((made() < 0) ? "lost " : "made ") + Math.abs(made());
	}

}
