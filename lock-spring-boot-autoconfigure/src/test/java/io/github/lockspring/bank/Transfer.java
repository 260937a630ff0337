package io.github.lockspring.bank;

import java.util.List;

/**
 * An order to move money from one account to another, and how far it came. Used by one
 * thread.
 */
final class Transfer {

	private final String id;

	private final int source;

	private final int target;

	private final long amount;

	private boolean begun;

	private boolean committed;

	private boolean detained;

	Transfer(String id, int source, int target, long amount) {
		this.id = id;
		this.source = source;
		this.target = target;
		this.amount = amount;
	}

	/** What it is known by in the ledger. */
	String id() {
		return this.id;
	}

	int source() {
		return this.source;
	}

	int target() {
		return this.target;
	}

	long amount() {
		return this.amount;
	}

	/** What is locked, for the annotation. */
	public List<Integer> getAccounts() {
		return List.of(this.source, this.target);
	}

	/** The work began, in its transaction. */
	void begin() {
		this.begun = true;
	}

	boolean isBegun() {
		return this.begun;
	}

	/** The transaction was committed. */
	void commit() {
		this.committed = true;
	}

	boolean isCommitted() {
		return this.committed;
	}

	/** It was held up by the test. */
	void detain() {
		this.detained = true;
	}

	boolean isDetained() {
		return this.detained;
	}

	@Override
	public String toString() {
		return this.id + ": " + this.amount + " from " + this.source + " to " + this.target;
	}

}
