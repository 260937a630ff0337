package io.github.lockspring.store;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.lockspring.store.LockStore.ReleaseRequest;
import org.jspecify.annotations.Nullable;

/**
 * The state of a taken lock in its store at one moment. Immutable.
 * <p>
 * The store SPI may change until 1.0.
 *
 * @param key the user's key
 * @param owner the text that identifies the owner in the store: an owner token, perhaps
 * with a suffix added by the store, or a text written by another client
 * @param remaining time until the lease ends unless it is renewed; null if it never ends
 * @param age time since the lock was acquired or, if the store does not record that,
 * since the owner requested it by its own clock; null if both are unknown
 * @param fencingToken a number at least as large as each fencing token of the owner
 * @param waiting how many ownerships are queued
 * @param queue the instances of the first ownerships in the queue, in order
 * @since 0.1
 */
public record StoredLock(String key, String owner, @Nullable Duration remaining, @Nullable Duration age,
		long fencingToken, int waiting, List<String> queue) {

	/** The largest size of {@link #queue()}. */
	public static final int MAX_QUEUE = 100;

	private static final Pattern INSTANCE = Pattern.compile("([A-Za-z0-9_-]{22})\\.\\d{1,18}\\.[1-9]\\d{0,3}.*");

	/**
	 * Returns the instance that owns the lock.
	 * @return the instance part of the owner token; empty if the owner is a client other
	 * than this library
	 */
	public Optional<String> instance() {
		return instance(this.owner);
	}

	/**
	 * Returns whether the ownership has ended and the lock is only kept until its lease
	 * ends, see {@link ReleaseRequest#keep()}.
	 * @return whether the lock is kept
	 */
	public boolean isKept() {
		return this.owner.endsWith(".kept");
	}

	/**
	 * Returns the instance part of an owner's text.
	 * @param owner an owner token, perhaps with a suffix added by the store
	 * @return the instance, or empty if the text does not begin with an owner token
	 */
	public static Optional<String> instance(String owner) {
		Matcher matcher = INSTANCE.matcher(owner);
		return matcher.matches() ? Optional.of(matcher.group(1)) : Optional.empty();
	}

}
