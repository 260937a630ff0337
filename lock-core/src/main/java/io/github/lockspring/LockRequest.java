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
 * Requests one or more locks: their keys, and the options that all of them share. What is
 * not set is a property of the application. Immutable and thread-safe; each method
 * returns a new request. Options that contradict each other are refused when the request
 * is used.
 * <p>
 * A lock of {@code LockRequest.of("order", 42)} excludes the methods with
 * {@code @DistributedLock(name = "order", key = "#id")} that are called with 42. Several
 * keys are taken in one global order, all or none.
 *
 * @since 0.1
 */
public class LockRequest {

	/** Each key with its label, empty for none; in the global order. */
	private final List<String> keys;

	private final List<String> names;

	private final Options options;

	private LockRequest(List<String> keys, List<String> names, Options options) {
		this.keys = keys;
		this.names = names;
		this.options = options;
	}

	/**
	 * Creates a request for other keys, which have one label. For this library itself:
	 * programs use {@link #of(String, Object)} and {@link #ofKeys(String, Collection)}.
	 * @param options gives the options
	 * @param keys the whole keys, at least one; duplicates count once
	 * @param name the label, or null for none
	 * @throws IllegalArgumentException if there is no key, or one of them cannot be a key
	 */
	protected LockRequest(LockRequest options, Collection<String> keys, @Nullable String name) {
		this.keys = ordered(keys);
		this.names = Collections.nCopies(this.keys.size(), (name != null) ? name : "");
		this.options = options.options;
	}

	/**
	 * Creates a request for a whole key, such as {@code "order:42"}. In meters it has no
	 * label.
	 * @param key the key, without the store's prefix: 1 to 4096 characters
	 * @return the request
	 * @throws IllegalArgumentException if the key is null, empty, too long or not valid
	 * Unicode
	 */
	public static LockRequest of(String key) {
		return new LockRequest(List.of(LockOptions.checkKey(key)), List.of(""), Options.NONE);
	}

	/**
	 * Creates a request for a key of a name, {@code name:key}, as
	 * {@code @DistributedLock} composes it. A {@code :} or {@code %} in the name is
	 * escaped, so different pairs never give the same lock.
	 * @param name the name; it is also the label in meters, events and messages
	 * @param key an identifier; a value that is no String counts by its
	 * {@code toString()}
	 * @return the request
	 * @throws IllegalArgumentException if the name is empty, or the key is null, empty,
	 * too long, or an object whose text does not identify it
	 */
	public static LockRequest of(String name, Object key) {
		return new LockRequest(List.of(LockKeys.join(name, key)), List.of(name), Options.NONE);
	}

	/**
	 * Creates a request for several keys of a name.
	 * @param name the name, as for {@link #of(String, Object)}
	 * @param keys the identifiers, at least one; duplicates count once
	 * @return the request
	 * @throws IllegalArgumentException if there is no key, and as for
	 * {@link #of(String, Object)}
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
			return List.of(LockOptions.checkKey(keys.iterator().next()));
		}
		return keys.stream().map(LockOptions::checkKey).sorted().distinct().toList();
	}

	/**
	 * Adds a key of another name. It has the options of this request.
	 * @param name the name, as for {@link #of(String, Object)}
	 * @param key the identifier
	 * @return the new request
	 * @throws IllegalArgumentException as for {@link #of(String, Object)}
	 */
	public final LockRequest and(String name, Object key) {
		Map<String, String> all = new TreeMap<>();
		for (int i = 0; i < this.keys.size(); i++) {
			all.put(this.keys.get(i), this.names.get(i));
		}
		all.putIfAbsent(LockKeys.join(name, key), name);
		return new LockRequest(List.copyOf(all.keySet()), List.copyOf(all.values()), this.options);
	}

	/**
	 * Sets the length of the lease: how soon others may go on after a crash of the
	 * holder.
	 * @param ttl 100 milliseconds to 365 days, and at least 300 milliseconds unless the
	 * lease is not renewed
	 * @return the new request
	 * @throws IllegalArgumentException if it is out of its bounds
	 */
	public final LockRequest ttl(Duration ttl) {
		LockOptions.check("ttl", ttl, LockOptions.MIN_TTL);
		return with(new Options(ttl, this.options.renewed, this.options.waitTime, this.options.minHold,
				this.options.maxHold, this.options.onLost));
	}

	/**
	 * Chooses whether the lease is kept alive while the work runs, or until the handle is
	 * closed. It is, unless this says false: then it ends after the ttl, whatever
	 * happens.
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
	 * @throws IllegalArgumentException if it is out of its bounds
	 */
	public final LockRequest waitTime(Duration waitTime) {
		LockOptions.check("waitTime", waitTime, Duration.ZERO);
		return with(new Options(this.options.ttl, this.options.renewed, waitTime, this.options.minHold,
				this.options.maxHold, this.options.onLost));
	}

	/**
	 * Delays the release until this much time has passed since the acquisition, however
	 * soon the work ends.
	 * @param minHold zero to 365 days
	 * @return the new request
	 * @throws IllegalArgumentException if it is out of its bounds
	 */
	public final LockRequest minHold(Duration minHold) {
		LockOptions.check("minHold", minHold, Duration.ZERO);
		return with(new Options(this.options.ttl, this.options.renewed, this.options.waitTime, minHold,
				this.options.maxHold, this.options.onLost));
	}

	/**
	 * Ends the renewal this long after the acquisition; the lease then runs out. Not with
	 * {@code renew(false)}, where the ttl is the limit.
	 * @param maxHold 300 milliseconds to 365 days, and not below the ttl
	 * @return the new request
	 * @throws IllegalArgumentException if it is out of its bounds
	 */
	public final LockRequest maxHold(Duration maxHold) {
		LockOptions.check("maxHold", maxHold, LockOptions.MIN_RENEWED_TTL);
		return with(new Options(this.options.ttl, this.options.renewed, this.options.waitTime, this.options.minHold,
				maxHold, this.options.onLost));
	}

	/**
	 * Chooses what happens when the lock is lost while the work runs.
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
	 * Returns the label of a key, which has few distinct values.
	 * @param key one of {@link #keys()}
	 * @return the name, or null if the whole key was given
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
	 * Returns whether the lease is kept alive.
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
	 * @return zero if there is none
	 */
	public final Duration minHold() {
		return this.options.minHold;
	}

	/**
	 * Returns when the renewal ends, counted from the acquisition.
	 * @return the time, or null for the property {@code distributed-lock.max-hold}
	 */
	public final @Nullable Duration maxHold() {
		return this.options.maxHold;
	}

	/**
	 * Returns what happens when the lock is lost while the work runs.
	 * @return never null
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
