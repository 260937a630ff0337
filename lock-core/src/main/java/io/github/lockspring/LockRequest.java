package io.github.lockspring;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * Requests one or more locks: their keys, the length of their leases, the longest wait.
 * Immutable and thread-safe; each method returns a new request.
 * <p>
 * Several keys are taken in one global order, all or none.
 *
 * @since 0.1
 */
public final class LockRequest {

	private final List<LockSpec> locks;

	private final @Nullable Duration waitTime;

	private final OnLost onLost;

	private final @Nullable Boolean asyncRelease;

	/** Whether {@link #renew()} was called, which a later ttl leaves on. */
	private final boolean renewed;

	private LockRequest(List<LockSpec> locks, @Nullable Duration waitTime, OnLost onLost,
			@Nullable Boolean asyncRelease, boolean renewed) {
		this.locks = locks;
		this.waitTime = waitTime;
		this.onLost = onLost;
		this.asyncRelease = asyncRelease;
		this.renewed = renewed;
	}

	/**
	 * Creates a request for one or more keys with the defaults of the application's
	 * properties.
	 * @param key a key
	 * @param more further keys; duplicates count once
	 * @return the request
	 * @throws IllegalArgumentException if a key is null, empty, longer than
	 * {@link LockSpec#MAX_KEY_LENGTH} characters or no valid Unicode
	 */
	public static LockRequest of(String key, String... more) {
		if (more.length == 0) {
			return new LockRequest(List.of(spec(key)), null, OnLost.THROW, null, false);
		}
		return of(Stream.concat(Stream.of(key), Arrays.stream(more)).toList());
	}

	/**
	 * Creates a request for several keys with the defaults of the application's
	 * properties.
	 * @param keys the keys, at least one; duplicates count once
	 * @return the request
	 * @throws IllegalArgumentException as for {@link #of(String, String...)}, and if
	 * there is no key
	 */
	public static LockRequest of(Collection<String> keys) {
		return new LockRequest(ordered(keys.stream().map(LockRequest::spec).toList()), null, OnLost.THROW, null, false);
	}

	/**
	 * Merges requests into one. Each key keeps its own name, ttl, renewal, maxHold and
	 * minHold; the smallest wait time that is given counts, and the caller waits for the
	 * release unless all requests agree that it does not.
	 * @param requests the requests, at least one
	 * @return the request
	 * @throws IllegalArgumentException if there is none, if they differ in onLost, or if
	 * they request the same key with different options
	 */
	public static LockRequest allOf(Collection<LockRequest> requests) {
		List<LockSpec> locks = new ArrayList<>();
		Duration waitTime = null;
		OnLost onLost = null;
		for (LockRequest request : requests) {
			locks.addAll(request.locks);
			if (waitTime == null || (request.waitTime != null && request.waitTime.compareTo(waitTime) < 0)) {
				waitTime = request.waitTime;
			}
			if (onLost != null && onLost != request.onLost) {
				throw new IllegalArgumentException(
						"Requests that are merged must agree in onLost: " + onLost + ", " + request.onLost);
			}
			onLost = request.onLost;
		}
		return new LockRequest(ordered(locks), waitTime, (onLost != null) ? onLost : OnLost.THROW,
				requests.stream().map(LockRequest::asyncRelease).distinct().count() == 1
						? requests.iterator().next().asyncRelease : Boolean.FALSE,
				false);
	}

	private static LockSpec spec(String key) {
		return new LockSpec(key, null, null, true, null, Duration.ZERO);
	}

	private static List<LockSpec> ordered(List<LockSpec> locks) {
		if (locks.isEmpty()) {
			throw new IllegalArgumentException("A lock request needs at least one key");
		}
		LockSpec[] sorted = locks.toArray(new LockSpec[0]);
		Arrays.sort(sorted, Comparator.comparing(LockSpec::key));
		List<LockSpec> distinct = new ArrayList<>(sorted.length);
		LockSpec last = null;
		for (LockSpec lock : sorted) {
			if (last == null || !lock.key().equals(last.key())) {
				distinct.add(lock);
				last = lock;
			}
			else if (!lock.equals(last)) {
				throw new IllegalArgumentException("Lock '" + lock.key()
						+ "' is requested twice in one request, with different options: " + last + " and " + lock);
			}
		}
		return Collections.unmodifiableList(distinct);
	}

	/**
	 * Requests other keys with the same options (name, ttl, renewal, maxHold, minHold,
	 * waitTime, onLost and asyncRelease).
	 * @param keys the keys, at least one; duplicates count once
	 * @return the new request
	 * @throws IllegalArgumentException as for {@link #of(Collection)}
	 * @throws IllegalStateException if this request is for several keys, whose options
	 * may differ
	 */
	public LockRequest forKeys(Collection<String> keys) {
		if (this.locks.size() > 1) {
			throw new IllegalStateException("A request for several keys gives no pattern for others: " + this);
		}
		LockSpec pattern = this.locks.get(0);
		if (keys.size() == 1) {
			return with(List.of(pattern.withKey(keys.iterator().next())));
		}
		List<LockSpec> specs = new ArrayList<>(keys.size());
		keys.forEach((key) -> specs.add(pattern.withKey(key)));
		return with(ordered(specs));
	}

	/**
	 * Labels all keys of this request, in messages and metrics. Unlike the name of the
	 * annotation, the label is no prefix of a key: write the whole key, as in
	 * {@code LockRequest.of("order:42").name("order")}.
	 * @param name a label with few distinct values, for messages and metrics
	 * @return the new request
	 */
	public LockRequest name(String name) {
		Objects.requireNonNull(name, "name");
		return with((lock) -> lock.withName(name));
	}

	/**
	 * Sets the length of the lease. It is not renewed unless {@link #renew()} is called
	 * too, before or after this.
	 * @param ttl {@link LockSpec#MIN_TTL} to {@link LockSpec#MAX_DURATION}
	 * @return the new request
	 * @throws LockOptionException if it is out of its bounds, or there is a maxHold and
	 * no renewal
	 */
	public LockRequest ttl(Duration ttl) {
		Objects.requireNonNull(ttl, "ttl");
		return with((lock) -> lock.withLease(ttl, this.renewed));
	}

	/**
	 * Keeps the lease alive while the work runs, or until the handle is closed.
	 * @return the new request
	 * @throws LockOptionException if the ttl is shorter than
	 * {@link LockSpec#MIN_RENEWED_TTL}
	 */
	public LockRequest renew() {
		return new LockRequest(changed((lock) -> lock.withLease(lock.ttl(), true)), this.waitTime, this.onLost,
				this.asyncRelease, true);
	}

	/**
	 * Ends the renewal this long after the acquisition; the lease then runs out.
	 * @param maxHold not below the ttl; to be set after {@link #renew()}
	 * @return the new request
	 * @throws LockOptionException if it is out of its bounds, or the lease is not renewed
	 */
	public LockRequest maxHold(Duration maxHold) {
		Objects.requireNonNull(maxHold, "maxHold");
		return with((lock) -> lock.withMaxHold(maxHold));
	}

	/**
	 * Delays the release until this much time has passed since the acquisition, however
	 * soon the work ends.
	 * @param minHold zero to {@link LockSpec#MAX_DURATION}
	 * @return the new request
	 * @throws LockOptionException if it is out of its bounds
	 */
	public LockRequest minHold(Duration minHold) {
		Objects.requireNonNull(minHold, "minHold");
		return with((lock) -> lock.withMinHold(minHold));
	}

	/**
	 * Limits the wait for all keys together.
	 * @param waitTime zero (one attempt) to {@link LockSpec#MAX_DURATION}
	 * @return the new request
	 * @throws LockOptionException if it is out of its bounds
	 */
	public LockRequest waitTime(Duration waitTime) {
		LockSpec.checkBounds("waitTime", waitTime, Duration.ZERO, "");
		return new LockRequest(this.locks, waitTime, this.onLost, this.asyncRelease, this.renewed);
	}

	/**
	 * Chooses what happens when the lock is lost while the work runs.
	 * @param onLost {@link OnLost#THROW} by default
	 * @return the new request
	 */
	public LockRequest onLost(OnLost onLost) {
		return new LockRequest(this.locks, this.waitTime, Objects.requireNonNull(onLost, "onLost"), this.asyncRelease,
				this.renewed);
	}

	/**
	 * Chooses whether the caller waits for the result of the release. A caller that does
	 * not wait goes on when the release is on its way; the next caller of the same
	 * instance still comes after it. It is no longer told if only the release finds that
	 * the lock was lost: that is an event.
	 * @param async whether it goes on; {@code distributed-lock.async-release} by default
	 * @return the new request
	 */
	public LockRequest asyncRelease(boolean async) {
		return new LockRequest(this.locks, this.waitTime, this.onLost, async, this.renewed);
	}

	private List<LockSpec> changed(UnaryOperator<LockSpec> change) {
		// change keeps the keys, and with them the order
		return (this.locks.size() == 1) ? List.of(change.apply(this.locks.get(0)))
				: this.locks.stream().map(change).toList();
	}

	private LockRequest with(UnaryOperator<LockSpec> change) {
		return with(changed(change));
	}

	private LockRequest with(List<LockSpec> locks) {
		return new LockRequest(locks, this.waitTime, this.onLost, this.asyncRelease, this.renewed);
	}

	/**
	 * Returns each key with its options, in the global order, without duplicates.
	 * @return an unmodifiable list, never empty
	 */
	public List<LockSpec> locks() {
		return this.locks;
	}

	/**
	 * Returns the longest wait for all keys together.
	 * @return the wait time, or null for the property {@code distributed-lock.wait-time}
	 */
	public @Nullable Duration waitTime() {
		return this.waitTime;
	}

	/**
	 * Returns what happens when the lock is lost while the work runs.
	 * @return never null
	 */
	public OnLost onLost() {
		return this.onLost;
	}

	/**
	 * Returns whether the caller goes on when the release is on its way.
	 * @return null for the property {@code distributed-lock.async-release}
	 */
	public @Nullable Boolean asyncRelease() {
		return this.asyncRelease;
	}

	@Override
	public String toString() {
		return "LockRequest" + this.locks + " waitTime=" + this.waitTime + " onLost=" + this.onLost;
	}

}
