package io.github.lockspring.model.etcd;

/**
 * The rules of the protocol that the model can do without, to show what each is for. The
 * names in parentheses are those of the holes that they close.
 */
enum Rule {

	/** Without it a removal deletes whatever entry has the name (E1). */
	REMOVAL_COMPARES_REVISION,
	/** Without it a token is used again after a removal without an answer (E2). */
	REMOVAL_IS_FINAL,
	/** Without it an addition does not compare the guard (E3). */
	ADDITION_COMPARES_GUARD,
	/** Without it a token with an unanswered addition is simply forgotten (E3). */
	GUARD_BEFORE_FORGETTING,
	/** Without it nobody looks whether the addition came before the guard (E4). */
	GUARD_WITH_A_LOOK,
	/** Without it what the client library repeats counts as answered (E5). */
	REPEATED_IS_UNANSWERED,
	/** Without it only the hold's own time counts, not that of its lease (E6). */
	EARLIEST_OF_HOLD_AND_LEASE,
	/** Without it a lease counts from the answer (E6). */
	COUNTS_FROM_SENDING,
	/** Without it a suspension of the process does not count as time (E7). */
	CLOCK_COUNTS_SUSPENSIONS,
	/** Without it the later read may be of another term than the renewal (E8). */
	SAME_TERM,
	/** Without it the later read does not look for the guard (E9). */
	GUARD_PROVES_LEASE,
	/** Without it an added entry counts as on the present lease (E10). */
	LEASE_OF_THE_REQUEST,
	/** Without it an entry of this token is adopted from any lease (E11). */
	ADOPTED_WITH_PRESENT_LEASE,
	/**
	 * Without it an entry is removed if an attempt names another lease, and is adopted
	 * later by one that names its lease (E11).
	 */
	ADOPTED_WHICHEVER_IS_NAMED,
	/**
	 * Without it a renewal's result is applied to whatever entry is the present one
	 * (E12).
	 */
	RENEWAL_OF_THIS_ENTRY,
	/** Without it the removal of an entry that is gone tells no loss (E13). */
	LOSS_IS_TOLD,
	/** Without it a hold without renewals stays as long as the lease lives (E14). */
	REMOVED_AT_ITS_END,
	/** Without it a waiter trusts its watch (E15). */
	PLACE_IS_ASKED_FOR,
	/** Without it a watch is for a name, not for an entry (E16). */
	WATCH_COMPARES_REVISION,
	/** Without it a lease without entries is revoked, and used again (E17). */
	REVOKED_AT_THE_END_ONLY,
	/** Without it a raise without an answer counts as not carried out (E18). */
	RAISE_COUNTS_BOTH,
	/** Without it a raise compares the revision of creation only. */
	RAISE_COMPARES_MODIFICATION,
	/**
	 * Without it a guard is named after the lease's length, so that a late request for an
	 * earlier lease can move it.
	 */
	GUARD_IS_NAMED_AFTER_LEASE,
	/** Without it a guard that is there is proof, whatever lease it is on. */
	PROOF_COMPARES_LEASE,
	/** Without it nobody notices that a backup was restored (E19). */
	RESTORE_IS_NOTICED,
	/**
	 * Without it an answer is compared with what is known when it arrives, not with what
	 * was known when its request was sent.
	 */
	PAST_BEFORE_SENDING,
	/**
	 * Without it a guard that was put settles the additions of all tokens on its lease.
	 */
	GUARD_SETTLES_ITS_TOKEN,
	/** Without it a guard that was put for another token is taken for a lost lease. */
	MOVED_GUARD_IS_NO_LOSS,
	/** Without it a raise counts for all entries of its instance. */
	RAISE_OF_ITS_ENTRY

}
