package io.github.lockspring.model.zookeeper;

import io.github.lockspring.model.Cells;

/**
 * When an instance sent what the servers answered, as bits: bit n is a proof that is n
 * ticks old.
 *
 * @param ages the bits
 */
record Proofs(int ages) {

	static final Proofs NONE = new Proofs(0);

	private static final int OLDEST = 5;

	private static final int MASK = (1 << OLDEST + 1) - 1;

	Proofs with(int age) {
		return (age <= OLDEST) ? new Proofs(this.ages | 1 << age) : this;
	}

	Proofs older() {
		return new Proofs(this.ages << 1 & MASK);
	}

	/** Age of the last one; more than all others without one. */
	int last() {
		return atLeast(0);
	}

	private int atLeast(int age) {
		int old = this.ages >> age;
		return (old != 0) ? age + Integer.numberOfTrailingZeros(old) : Byte.MAX_VALUE;
	}

	/**
	 * Returns for how long a session is proven.
	 */
	int left(Scenario scenario) {
		if (!scenario.reports()) {
			return Math.max(scenario.timeout() - last(), 0);
		}
		int sixth = scenario.timeout() / 6;
		int earlier = atLeast(last() + (scenario.has(Rule.PROOFS_ARE_APART) ? 2 * sixth : 1));
		if (!scenario.has(Rule.PROOFS_ARE_APART)) {
			return Math.max(5 * sixth - earlier, 0);
		}
		// an earlier one that is too old does not make the last one prove less
		int left = (earlier == Byte.MAX_VALUE) ? 0 : Math.min(3 * sixth - last(), 5 * sixth - earlier);
		return Math.max(Math.max(left, sixth - last()), 0);
	}

	Proofs pass(Cells cells) {
		return new Proofs(cells.pass(this.ages));
	}

}
