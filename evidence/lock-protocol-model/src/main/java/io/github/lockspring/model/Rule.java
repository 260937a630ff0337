package io.github.lockspring.model;

import java.util.Locale;

/**
 * The rules of {@code docs/understand/protocol-rules.md} that the model can do without,
 * to show what each is for. The page has an anchor for each, {@code rule-own-token} for
 * {@link #OWN_TOKEN}.
 */
enum Rule {

	/** Without it an instance has one token for all its ownerships. */
	OWN_TOKEN,
	/** Without it the lease is set by a second command. */
	ONE_COMMAND,
	/** Without it an attempt finds a lock busy that its own token owns. */
	OWN_LOCK_IS_ACQUIRED,
	/** Without it a waiting instance does not queue. */
	QUEUE,
	/** Without it an instance that no message reaches does not queue. */
	SHORT_GRANT,
	/** Without it a release skips a token with a short grant that has no subscriber. */
	SHORT_GRANT_IS_FOUND,
	/** Without it nothing is sent to the owner. */
	WANTED,
	/** Without it {@code w} is sent at the first attempt only. */
	WANTED_REPEATED,
	/** Without it a release deletes the lock, whoever owns it. */
	RELEASE_COMPARES_OWNER,
	/** Without it a renewal extends the lease, whoever owns it. */
	RENEWAL_COMPARES_OWNER,
	/** Without it a release deletes the lock, and waiters find that out. */
	HAND_OVER,
	/** Without it the result of {@code PUBLISH} decides whether the next one is asked. */
	COUNT_BEFORE_PUBLISHING,
	/** Without it a hand-over gives the waiter's full TTL. */
	GRANT_TTL,
	/** Without it a lease can be shortened. */
	NEVER_SHORTENED,
	/** Without it a message about an unknown token is ignored. */
	ORPHANS_ARE_RELEASED,
	/** Without it an attempt that was given up leaves what it acquires, or its place. */
	LATE_RESULT_IS_RELEASED,
	/**
	 * Without it a message about a token whose release is under way causes another one.
	 */
	RELEASES_ARE_REGISTERED,
	/** Without it a release that was lost is not repeated. */
	RELEASES_ARE_REPEATED,
	/** Without it every unexpected message is answered with a release. */
	KNOWN_TOKENS_ARE_NOT_RELEASED,
	/** Without it a waiter uses the grant of another ownership of its instance. */
	GRANT_OF_THIS_TOKEN,
	/** Without it a grant is used although a later attempt has seen its token. */
	GRANT_IS_NEW,
	/** Without it the lease of a grant counts from the receipt of its message. */
	GRANT_COUNTS_FROM_ATTEMPT,
	/** Without it a grant is used although the last attempt has no result. */
	GRANT_NEEDS_RESULT,
	/** Without it a waiter waits for a message and makes no attempt. */
	RETRY,
	/** Without it a lease counts from the result. */
	COUNTS_FROM_SENDING,
	/** Without it a result starts the work although its lease is over. */
	LATE_RESULT,
	/** Without it a late result of a renewal revives a lease. */
	DEADLINE_IS_FINAL,
	/** Without it a lease that is over is handed off locally. */
	HAND_OFF_CHECKS_DEADLINE,
	/** Without it local hand-offs go on although other instances wait. */
	HAND_OFF_IS_BOUNDED,
	/** Without it an owner without an inbox believes that no one else waits. */
	NO_INBOX_ASSUMES_OTHERS,
	/** Without it the fencing token is a counter. */
	TOKEN_FROM_TIME,
	/** Without it hand-offs use more tokens than the server's clock advances. */
	HAND_OFF_LIMIT,
	/** Without it a block of fencing tokens is reserved for hand-offs. */
	ONE_BY_ONE,
	/** Without it the store does not learn which tokens hand-offs have used. */
	LAST_TOKEN_REPORTED;

	/** Name of the rule's anchor in {@code docs/understand/protocol-rules.md}. */
	String anchor() {
		return "rule-" + name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

}
