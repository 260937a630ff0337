package io.github.lockspring.bank;

import org.jspecify.annotations.Nullable;

/**
 * What happened in a round.
 *
 * @param moment when it happened
 * @param harm what
 * @param overtaken whether somebody else's transfer of one of its accounts was committed
 * while a transfer was held up
 * @param outcome what became of the transfer that was held up; null if none was
 */
record Round(Moment moment, Harm harm, boolean overtaken, @Nullable Outcome outcome) {

	String kind() {
		return this.moment + "/" + this.harm;
	}

}
