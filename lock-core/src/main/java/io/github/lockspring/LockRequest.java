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

import org.jspecify.annotations.Nullable;

/**
 * What is asked for: one or more keys, for how long, and how long to wait. Immutable;
 * each method gives a new request.
 * <p>
 * Several keys are taken in one global order, all or none.
 */
public final class LockRequest {

	private final List<LockSpec> locks;

	private final @Nullable Duration waitTime;

	private final OnLost onLost;

	/** Whether renewal was asked for, so that a ttl that is said later leaves it on. */
	private final boolean renewed;

	private LockRequest(List<LockSpec> locks, @Nullable Duration waitTime, OnLost onLost, boolean renewed) {
		this.locks = locks;
		this.waitTime = waitTime;
		this.onLost = onLost;
		this.renewed = renewed;
	}

	/**
	 * A request for one or more keys with the defaults of the application's properties.
	 * @param key a key
	 * @param more further keys; duplicates count once
	 * @return the request
	 * @throws IllegalArgumentException if a key is null, empty, longer than
	 * {@link LockSpec#MAX_KEY_LENGTH} characters or no valid Unicode
	 */
	public static LockRequest of(String key, String... more) {
		if (more.length == 0) {
			return new LockRequest(List.of(spec(key)), null, OnLost.THROW, false);
		}
		List<String> keys = new ArrayList<>(more.length + 1);
		keys.add(key);
		keys.addAll(Arrays.asList(more));
		return of(keys);
	}

	/**
	 * A request for several keys with the defaults of the application's properties.
	 * @param keys the keys, at least one; duplicates count once
	 * @return the request
	 * @throws IllegalArgumentException as for {@link #of(String, String...)}, and if
	 * there is no key
	 */
	public static LockRequest of(Collection<String> keys) {
		return new LockRequest(ordered(keys.stream().map(LockRequest::spec).toList()), null, OnLost.THROW, false);
	}

	/**
	 * One request for all that the given ones ask for. Each key keeps its own name, ttl,
	 * renewal, maxHold and minHold; the smallest wait time that is given counts.
	 * @param requests the requests, at least one
	 * @return the request
	 * @throws IllegalArgumentException if there is none, if they differ in onLost, or if
	 * they ask for the same key in different ways
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
						"Requests that are taken together must agree in onLost: " + onLost + ", " + request.onLost);
			}
			onLost = request.onLost;
		}
		return new LockRequest(ordered(locks), waitTime, (onLost != null) ? onLost : OnLost.THROW, false);
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
						+ "' is asked for twice in one request, in different ways: " + last + " and " + lock);
			}
		}
		return Collections.unmodifiableList(distinct);
	}

	/**
	 * Asks for other keys in the same way: what was said about name, ttl, renewal,
	 * maxHold, minHold, waiting and onLost stays.
	 * @param keys the keys, at least one; duplicates count once
	 * @return the new request
	 * @throws IllegalArgumentException as for {@link #of(Collection)}
	 * @throws IllegalStateException if this request is for several keys, which may differ
	 * in what is asked for them
	 */
	public LockRequest forKeys(Collection<String> keys) {
		if (this.locks.size() > 1) {
			throw new IllegalStateException("A request for several keys gives no pattern for others: " + this);
		}
		if (keys.size() == 1) {
			return new LockRequest(List.of(this.locks.get(0).forKey(keys.iterator().next())), this.waitTime,
					this.onLost, this.renewed);
		}
		List<LockSpec> specs = new ArrayList<>(keys.size());
		keys.forEach((key) -> specs.add(this.locks.get(0).forKey(key)));
		return new LockRequest(ordered(specs), this.waitTime, this.onLost, this.renewed);
	}

	/**
	 * Names all keys of this request.
	 * @param name a label of few different values, for messages and metrics
	 * @return the new request
	 */
	public LockRequest name(String name) {
		Objects.requireNonNull(name, "name");
		return with((lock) -> new LockSpec(lock.key(), name, lock.ttl(), lock.renew(), lock.maxHold(), lock.minHold()));
	}

	/**
	 * The length of the lease. It is not renewed unless {@link #renew()} is said too,
	 * before or after this.
	 * @param ttl {@link LockSpec#MIN_TTL} to {@link LockSpec#MAX_DURATION}
	 * @return the new request
	 * @throws IllegalArgumentException if it is out of its range, or there is a maxHold
	 * and no renewal
	 */
	public LockRequest ttl(Duration ttl) {
		Objects.requireNonNull(ttl, "ttl");
		return with((lock) -> new LockSpec(lock.key(), lock.name(), ttl, this.renewed, lock.maxHold(), lock.minHold()));
	}

	/**
	 * Keeps the lease alive while the work runs, or until the handle is closed.
	 * @return the new request
	 * @throws IllegalArgumentException if the ttl is shorter than
	 * {@link LockSpec#MIN_RENEWED_TTL}
	 */
	public LockRequest renew() {
		return with((lock) -> new LockSpec(lock.key(), lock.name(), lock.ttl(), true, lock.maxHold(), lock.minHold()),
				true);
	}

	/**
	 * Renewal ends this long after the acquisition; the lease then runs out.
	 * @param maxHold not below the ttl; say it after {@link #renew()}
	 * @return the new request
	 * @throws IllegalArgumentException if it is out of its range, or the lease is not
	 * renewed
	 */
	public LockRequest maxHold(Duration maxHold) {
		Objects.requireNonNull(maxHold, "maxHold");
		return with((lock) -> new LockSpec(lock.key(), lock.name(), lock.ttl(), lock.renew(), maxHold, lock.minHold()));
	}

	/**
	 * The lock is not given back before this much time has passed since the acquisition,
	 * however soon the work ends.
	 * @param minHold zero to {@link LockSpec#MAX_DURATION}
	 * @return the new request
	 * @throws IllegalArgumentException if it is out of its range
	 */
	public LockRequest minHold(Duration minHold) {
		Objects.requireNonNull(minHold, "minHold");
		return with((lock) -> new LockSpec(lock.key(), lock.name(), lock.ttl(), lock.renew(), lock.maxHold(), minHold));
	}

	/**
	 * The longest wait for all keys together.
	 * @param waitTime zero (one attempt) to {@link LockSpec#MAX_DURATION}
	 * @return the new request
	 * @throws IllegalArgumentException if it is out of its range
	 */
	public LockRequest waitTime(Duration waitTime) {
		LockSpec.check("waitTime", waitTime, Duration.ZERO);
		return new LockRequest(this.locks, waitTime, this.onLost, this.renewed);
	}

	/**
	 * What happens when the lock is lost while the work runs.
	 * @param onLost {@link OnLost#THROW} unless said otherwise
	 * @return the new request
	 */
	public LockRequest onLost(OnLost onLost) {
		return new LockRequest(this.locks, this.waitTime, Objects.requireNonNull(onLost, "onLost"), this.renewed);
	}

	private LockRequest with(UnaryOperator<LockSpec> change) {
		return with(change, this.renewed);
	}

	private LockRequest with(UnaryOperator<LockSpec> change, boolean renewed) {
		if (this.locks.size() == 1) {
			return new LockRequest(List.of(change.apply(this.locks.get(0))), this.waitTime, this.onLost, renewed);
		}
		List<LockSpec> changed = new ArrayList<>(this.locks.size());
		this.locks.forEach((lock) -> changed.add(change.apply(lock)));
		return new LockRequest(Collections.unmodifiableList(changed), this.waitTime, this.onLost, renewed);
	}

	/**
	 * What is asked for each key, in the global order, without duplicates.
	 * @return an unmodifiable list, never empty
	 */
	public List<LockSpec> locks() {
		return this.locks;
	}

	/**
	 * The longest wait.
	 * @return the wait time, or null for the property {@code distributed-lock.wait-time}
	 */
	public @Nullable Duration waitTime() {
		return this.waitTime;
	}

	/**
	 * What happens when the lock is lost while the work runs.
	 * @return never null
	 */
	public OnLost onLost() {
		return this.onLost;
	}

	@Override
	public String toString() {
		return "LockRequest" + this.locks + " waitTime=" + this.waitTime + " onLost=" + this.onLost;
	}

}
