package io.github.lockspring.test;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

import io.github.lockspring.LockException;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.autoconfigure.internal.CreatedEngine;

/**
 * Asserts which locks a test has acquired, and makes locks busy, unavailable or lost. A
 * bean in tests with {@link AutoConfigureDistributedLocks}. Covers annotated methods,
 * {@code execute}, {@code acquire} and {@code tryAcquire}. It is reset after each test
 * method, which also releases the locks that the test still holds.
 * <p>
 * Keys are written as in messages: {@code order:42} for an annotation with the name
 * {@code order}. Thread-safe.
 *
 * @since 0.1
 */
public final class LockTester {

	private enum Failure {

		BUSY, UNAVAILABLE

	}

	private final CreatedEngine engine;

	private final List<String> taken = new CopyOnWriteArrayList<>();

	private final Map<String, Failure> failures = new ConcurrentHashMap<>();

	LockTester(CreatedEngine engine) {
		this.engine = engine;
	}

	// assertions

	/**
	 * Asserts that this application now holds a lock.
	 * @param key the key
	 * @return this tester
	 * @throws AssertionError if it does not hold the lock
	 */
	public LockTester assertHeld(String key) {
		check(isHeld(key), "Lock '" + key + "' should be held, but is not. " + describe());
		return this;
	}

	/**
	 * Asserts that this application does not hold a lock now.
	 * @param key the key
	 * @return this tester
	 * @throws AssertionError if it holds the lock
	 */
	public LockTester assertNotHeld(String key) {
		check(!isHeld(key), "Lock '" + key + "' should not be held, but is. " + describe());
		return this;
	}

	/**
	 * Asserts that a lock was acquired in this test, even if it is no longer held.
	 * @param key the key
	 * @return this tester
	 * @throws AssertionError if it was not acquired
	 */
	public LockTester assertTaken(String key) {
		check(this.taken.contains(key), "Lock '" + key + "' should have been acquired, but was not. " + describe());
		return this;
	}

	/**
	 * Asserts that a lock was not acquired in this test.
	 * @param key the key
	 * @return this tester
	 * @throws AssertionError if it was acquired
	 */
	public LockTester assertNotTaken(String key) {
		check(!this.taken.contains(key), "Lock '" + key + "' should not have been acquired, but was. " + describe());
		return this;
	}

	/**
	 * Returns the keys of the locks acquired in this test, including re-entries.
	 * @return the keys, in order of acquisition
	 */
	public List<String> taken() {
		return List.copyOf(this.taken);
	}

	// simulated failures

	/**
	 * Makes the next request for a lock find it busy immediately, regardless of its wait
	 * time.
	 * @param key the key
	 * @return this tester
	 */
	public LockTester makeBusy(String key) {
		this.failures.put(key, Failure.BUSY);
		return this;
	}

	/**
	 * Makes the next request for a lock fail immediately, as if the store did not reply.
	 * @param key the key
	 * @return this tester
	 */
	public LockTester makeUnavailable(String key) {
		this.failures.put(key, Failure.UNAVAILABLE);
		return this;
	}

	/**
	 * Takes a lock away from its holder, which reacts as to any loss.
	 * @param key the key
	 * @return this tester
	 * @throws AssertionError if this application does not hold the lock
	 */
	public LockTester lose(String key) {
		assertHeld(key);
		this.engine.find().ifPresent((present) -> present.forceRelease(key));
		return this;
	}

	/**
	 * Clears the recorded locks and the simulated failures, and releases all locks of
	 * this application. Called after each test method.
	 */
	public void reset() {
		this.taken.clear();
		this.failures.clear();
		this.engine.find()
			.ifPresent((present) -> present.locks()
				.stream()
				.filter((lock) -> lock.hold() != null)
				.forEach((lock) -> present.forceRelease(lock.key())));
	}

	// for TestedLockTemplate

	/**
	 * Throws the simulated failure of a request, if any.
	 */
	void beforeRequest(LockRequest request) {
		for (String key : request.keys()) {
			Failure failure = this.failures.remove(key);
			if (failure != null) {
				throw exception(failure, key);
			}
		}
	}

	private static LockException exception(Failure failure, String key) {
		return switch (failure) {
			case BUSY -> new LockNotAcquiredException(key, "Lock '" + key + "' is busy: simulated by the test");
			case UNAVAILABLE -> new LockUnavailableException(key, "Lock '" + key + "' could not be requested",
					new LockUnavailableException("Simulated by the test"));
		};
	}

	void acquired(LockRequest request) {
		this.taken.addAll(request.keys());
	}

	private boolean isHeld(String key) {
		return this.engine.find()
			.flatMap((present) -> present.lock(key))
			.filter((lock) -> lock.hold() != null)
			.isPresent();
	}

	private String describe() {
		return "Acquired in this test: " + this.taken;
	}

	private static void check(boolean condition, String message) {
		if (!condition) {
			throw new AssertionError(message);
		}
	}

}
