package io.github.lockspring;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

import io.github.lockspring.internal.base.LockKeys;
import io.github.lockspring.internal.base.LockOptions;
import org.jspecify.annotations.Nullable;

/**
 * A request for one or more locks: their keys and shared options. Options that are not
 * set come from the application's properties. Immutable and thread-safe; each method
 * returns a new request. Contradictory options are rejected when the request is used.
 * <p>
 * {@code LockRequest.of("order", 42)} requests the same lock as a call with 42 of a
 * method annotated with {@code @DistributedLock(name = "order", key = "#id")}. Several
 * keys, at most 1,000, are acquired in one global order, all or none.
 *
 * @since 0.1
 */
public class LockRequest {

	/** Each key is a request to the store, one after the other. */
	private static final int MAX_KEYS = 1_000;

	/** Sorted, which is the global order. */
	private final List<String> keys;

	/** The label of each key; empty for none. */
	private final List<String> names;

	private final Options options;

	private LockRequest(List<String> keys, List<String> names, Options options) {
		this.keys = keys;
		this.names = names;
		this.options = options;
	}

	/**
	 * Creates a request for other keys, all with the same label. For internal use:
	 * applications use {@link #of(String, Object)} and
	 * {@link #ofKeys(String, Collection)}.
	 * @param options the request whose options are copied
	 * @param keys the whole keys, at least one; duplicates count once
	 * @param name the label, or null for none
	 * @throws IllegalArgumentException if there is no key, there are more than 1,000, or
	 * one of them is invalid
	 */
	protected LockRequest(LockRequest options, Collection<String> keys, @Nullable String name) {
		this.keys = ordered(keys);
		this.names = Collections.nCopies(this.keys.size(), (name != null) ? name : "");
		this.options = options.options;
	}

	/**
	 * Creates a request for a complete key, such as {@code "order:42"}. It has no label
	 * in metrics.
	 * @param key the key, without the store's prefix: 1 to 4096 characters
	 * @return the request
	 * @throws IllegalArgumentException if the key is null, empty, too long or not valid
	 * Unicode
	 */
	public static LockRequest of(String key) {
		return new LockRequest(List.of(LockKeys.check(key)), List.of(""), Options.NONE);
	}

	/**
	 * Creates a request for the key {@code name:key}, composed as by
	 * {@code @DistributedLock}. A {@code :} or {@code %} in the name is escaped, so
	 * different pairs never share a lock.
	 * @param name the name; also the label in metrics, events and messages
	 * @param key an identifier; a value that is not a String is represented by its
	 * {@code toString()}
	 * @return the request
	 * @throws IllegalArgumentException if the name is empty, or the key is null, empty,
	 * too long, or an object whose text does not identify it
	 */
	public static LockRequest of(String name, Object key) {
		return new LockRequest(List.of(LockKeys.join(name, key)), List.of(name), Options.NONE);
	}

	/**
	 * Creates a request for several keys with the same name.
	 * @param name the name, as for {@link #of(String, Object)}
	 * @param keys the identifiers, at least one; duplicates count once
	 * @return the request
	 * @throws IllegalArgumentException if there is no key or there are more than 1,000,
	 * or as for {@link #of(String, Object)}
	 */
	public static LockRequest ofKeys(String name, Collection<?> keys) {
		List<String> ordered = ordered(keys.stream().map((key) -> LockKeys.join(name, key)).toList());
		return new LockRequest(ordered, Collections.nCopies(ordered.size(), name), Options.NONE);
	}

	private static List<String> ordered(Collection<String> keys) {
		if (keys.isEmpty()) {
			throw new IllegalArgumentException("A lock request needs at least one key");
		}
		if (keys.size() == 1) {
			return List.of(LockKeys.check(keys.iterator().next()));
		}
		return limited(keys.stream().map(LockKeys::check).sorted().distinct().toList());
	}

	private static List<String> limited(List<String> keys) {
		if (keys.size() > MAX_KEYS) {
			throw new IllegalArgumentException("A lock request has at most " + MAX_KEYS + " keys, this one has "
					+ keys.size() + ". Lock what they have in common, or a part of them at a time");
		}
		return keys;
	}

	/**
	 * Adds a key, usually with another name. It shares the options of this request.
	 * @param name the name, as for {@link #of(String, Object)}
	 * @param key the identifier
	 * @return the new request
	 * @throws IllegalArgumentException if there are more than 1,000 keys, or as for
	 * {@link #of(String, Object)}
	 */
	public final LockRequest and(String name, Object key) {
		Map<String, String> all = new TreeMap<>();
		for (int i = 0; i < this.keys.size(); i++) {
			all.put(this.keys.get(i), this.names.get(i));
		}
		all.putIfAbsent(LockKeys.join(name, key), name);
		return new LockRequest(limited(List.copyOf(all.keySet())), List.copyOf(all.values()), this.options);
	}

	/**
	 * Sets the length of the lease: how soon others can acquire the lock after its holder
	 * has crashed.
	 * @param ttl 300 milliseconds to 365 days; from 100 milliseconds without renewal
	 * @return the new request
	 * @throws IllegalArgumentException if the ttl is out of bounds
	 */
	public final LockRequest ttl(Duration ttl) {
		LockOptions.check("ttl", ttl, LockOptions.MIN_TTL);
		return with(new Options(ttl, this.options.renewed, this.options.waitTime, this.options.minHold,
				this.options.maxHold, this.options.onLost));
	}

	/**
	 * Sets whether the lease is renewed while the work runs or until the handle is
	 * closed; true by default. Without renewal, the lease ends after the ttl, even if the
	 * work is still running.
	 * @param renew whether to renew
	 * @return the new request
	 */
	public final LockRequest renew(boolean renew) {
		return with(new Options(this.options.ttl, renew, this.options.waitTime, this.options.minHold,
				this.options.maxHold, this.options.onLost));
	}

	/**
	 * Limits the wait for all keys together.
	 * @param waitTime zero (one attempt) to 365 days
	 * @return the new request
	 * @throws IllegalArgumentException if the wait time is out of bounds
	 */
	public final LockRequest waitTime(Duration waitTime) {
		LockOptions.check("waitTime", waitTime, Duration.ZERO);
		return with(new Options(this.options.ttl, this.options.renewed, waitTime, this.options.minHold,
				this.options.maxHold, this.options.onLost));
	}

	/**
	 * Delays the release until this long after the acquisition, even if the work ends
	 * sooner.
	 * @param minHold zero to 365 days
	 * @return the new request
	 * @throws IllegalArgumentException if the time is out of bounds
	 */
	public final LockRequest minHold(Duration minHold) {
		LockOptions.check("minHold", minHold, Duration.ZERO);
		return with(new Options(this.options.ttl, this.options.renewed, this.options.waitTime, minHold,
				this.options.maxHold, this.options.onLost));
	}

	/**
	 * Limits the time from the acquisition to the end of the lease, even if the work is
	 * still running: the lease is not renewed beyond it. Cannot be combined with
	 * {@code renew(false)}, where the ttl is the limit.
	 * @param maxHold 300 milliseconds to 365 days, not shorter than the ttl
	 * @return the new request
	 * @throws IllegalArgumentException if the time is out of bounds
	 */
	public final LockRequest maxHold(Duration maxHold) {
		LockOptions.check("maxHold", maxHold, LockOptions.MIN_RENEWED_TTL);
		return with(new Options(this.options.ttl, this.options.renewed, this.options.waitTime, this.options.minHold,
				maxHold, this.options.onLost));
	}

	/**
	 * Sets the reaction to the loss of the lock while the work runs.
	 * @param onLost {@link OnLost#THROW} by default
	 * @return the new request
	 */
	public final LockRequest onLost(OnLost onLost) {
		Objects.requireNonNull(onLost, "onLost");
		return with(new Options(this.options.ttl, this.options.renewed, this.options.waitTime, this.options.minHold,
				this.options.maxHold, onLost));
	}

	private LockRequest with(Options options) {
		return new LockRequest(this.keys, this.names, options);
	}

	/**
	 * Returns the keys in the global order, without the store's prefix.
	 * @return an unmodifiable list, never empty, without duplicates
	 */
	public final List<String> keys() {
		return this.keys;
	}

	/**
	 * Returns the name of a key, a label with few distinct values.
	 * @param key one of {@link #keys()}
	 * @return the name, or null if the request gave a complete key
	 */
	public final @Nullable String nameOf(String key) {
		int position = (this.keys.size() == 1) ? 0 : Collections.binarySearch(this.keys, key);
		String name = (position >= 0) ? this.names.get(position) : "";
		return name.isEmpty() ? null : name;
	}

	/**
	 * Returns the length of the lease.
	 * @return the ttl, or null for the property {@code distributed-lock.ttl}
	 */
	public final @Nullable Duration ttl() {
		return this.options.ttl;
	}

	/**
	 * Returns whether the lease is renewed.
	 * @return true unless {@code renew(false)} was called
	 */
	public final boolean isRenewed() {
		return this.options.renewed;
	}

	/**
	 * Returns the longest wait for all keys together.
	 * @return the wait time, or null for the property {@code distributed-lock.wait-time}
	 */
	public final @Nullable Duration waitTime() {
		return this.options.waitTime;
	}

	/**
	 * Returns the shortest time from the acquisition to the release.
	 * @return the time, zero if the release is not delayed
	 */
	public final Duration minHold() {
		return this.options.minHold;
	}

	/**
	 * Returns the time from the acquisition after which the lease is no longer renewed.
	 * @return the time, or null for the property {@code distributed-lock.max-hold}
	 */
	public final @Nullable Duration maxHold() {
		return this.options.maxHold;
	}

	/**
	 * Returns the reaction to the loss of the lock while the work runs.
	 * @return the reaction
	 */
	public final OnLost onLost() {
		return this.options.onLost;
	}

	@Override
	public String toString() {
		List<String> texts = new ArrayList<>();
		this.keys.forEach((key) -> texts.add("'" + key + "'"));
		return "LockRequest" + texts + " " + this.options;
	}

	private record Options(@Nullable Duration ttl, boolean renewed, @Nullable Duration waitTime, Duration minHold,
			@Nullable Duration maxHold, OnLost onLost) {

		private static final Options NONE = new Options(null, true, null, Duration.ZERO, null, OnLost.THROW);

	}

}
