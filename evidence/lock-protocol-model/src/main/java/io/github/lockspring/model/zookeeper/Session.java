package io.github.lockspring.model.zookeeper;

import io.github.lockspring.model.Cells;

/**
 * A session on the leader.
 *
 * @param id its name
 * @param left ticks that it lasts at least
 * @param unreported ticks since its server heard what it has not reported; negative:
 * there is nothing to report
 */
record Session(int id, int left, int unreported) {

	static final Session NONE = new Session(0, 0, -1);

	Session heard(Scenario scenario) {
		return scenario.reports() ? new Session(this.id, this.left, Math.max(this.unreported, 0))
				: new Session(this.id, scenario.timeout(), -1);
	}

	Session reported(Scenario scenario) {
		return new Session(this.id, scenario.timeout(), -1);
	}

	Session withoutReport() {
		return new Session(this.id, this.left, -1);
	}

	Session older() {
		return new Session(this.id, Math.max(this.left - 1, 0),
				(this.unreported < 0) ? this.unreported : this.unreported + 1);
	}

	/** Whether its server reports before another tick passes. */
	boolean isReportDue() {
		return this.unreported > 0;
	}

	Session renamed(Names names) {
		return new Session(names.session(this.id), this.left, this.unreported);
	}

	Session pass(Cells cells) {
		return new Session(cells.pass(this.id), cells.pass(this.left), cells.pass(this.unreported));
	}

	@Override
	public String toString() {
		return Names.session("S", this.id) + ":" + this.left + ((this.unreported >= 0) ? "?" : "");
	}

}
