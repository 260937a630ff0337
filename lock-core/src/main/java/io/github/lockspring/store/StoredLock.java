package io.github.lockspring.store;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.lockspring.store.LockStore.ReleaseRequest;
import org.jspecify.annotations.Nullable;

/**
 * A lock that is taken, as its store has it at one moment. Immutable.
 * <p>
 * The store SPI may change until 1.0.
 *
 * @param key the user's key
 * @param owner the text by which the store identifies the owner: an owner token, perhaps
 * with an addition of the store, or what another client has written
 * @param remaining time until the lease ends unless it is renewed; null if it never ends
 * @param age time since the lock was acquired, for an owner token; where the store does
 * not know it, time since the owner requested it by its own clock; null if neither is
 * known
 * @param fencingToken a number that is at least as large as each fencing token of the
 * owner
 * @param waiting how many ownerships are queued
 * @param queue the instances of the first ones in the queue, in their order
 * @since 0.1
 */
public record StoredLock(String key, String owner, @Nullable Duration remaining, @Nullable Duration age,
		long fencingToken, int waiting, List<String> queue) {

	/** How many queued ownerships a store names at most. */
	public static final int MAX_QUEUE = 100;

	private static final Pattern INSTANCE = Pattern.compile("([A-Za-z0-9_-]{22})\\.\\d{1,18}\\.[1-9]\\d{0,3}.*");

	/**
	 * Returns the instance that owns the lock.
	 * @return the instance part of the owner token; empty if a client that is not of this
	 * library owns the lock
	 */
	public Optional<String> instance() {
		return instance(this.owner);
	}

	/**
	 * Returns whether the owner has ended, and the lock is only kept until its lease
	 * ends.
	 * @return whether it was kept by {@link ReleaseRequest#keep()}
	 */
	public boolean isKept() {
		return this.owner.endsWith(".kept");
	}

	/**
	 * Returns the instance that a text names.
	 * @param owner an owner token, perhaps with an addition of the store
	 * @return the instance, or empty if the text does not begin with an owner token
	 */
	public static Optional<String> instance(String owner) {
		Matcher matcher = INSTANCE.matcher(owner);
		return matcher.matches() ? Optional.of(matcher.group(1)) : Optional.empty();
	}

}
