package io.github.lockspring.lab.history;

import java.util.Locale;

import com.fasterxml.jackson.annotation.JsonValue;

/**
 * The outcome of a run.
 */
public enum Code {

	/** No two shops were inside at the same time, and the lock was never stuck. */
	SAFE,
	/** Two shops were inside at the same time; no seat was sold twice. */
	TWO_HOLDERS,
	/** A seat was sold twice. */
	SOLD_TWICE,
	/** Shops waited, and no shop was inside, for much longer than a lease. */
	STUCK,
	/** The database or its guard refused a late write, so nothing was sold twice. */
	REFUSED,
	/** Shops could not ask for the lock for much longer than a lease. */
	UNAVAILABLE,
	/** The lab itself failed. */
	FAILED,
	/** The run was cancelled. */
	CANCELLED;

	/**
	 * Returns the name in JSON.
	 * @return the name, such as {@code two-holders}
	 */
	@JsonValue
	public String id() {
		return name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

}
