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
 * Asserts which locks a test has taken, and makes locks busy, unavailable or lost. A bean
 * of tests with {@link AutoConfigureDistributedLocks}; works for annotated methods,
 * {@code execute}, {@code acquire} and {@code tryAcquire}. After each test method it
 * forgets everything, and releases what the test has left behind.
 * <p>
 * Keys are written as messages print them: {@code order:42} for an annotation with the
 * name {@code order}. Thread-safe.
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
	 * Asserts that this application holds a lock now.
	 * @param key the key
	 * @return this tester
	 * @throws AssertionError if it does not
	 */
	public LockTester assertHeld(String key) {
		check(isHeld(key), "Lock '" + key + "' should be held, but is not. " + describe());
		return this;
	}

	/**
	 * Asserts that this application does not hold a lock now.
	 * @param key the key
	 * @return this tester
	 * @throws AssertionError if it does
	 */
	public LockTester assertNotHeld(String key) {
		check(!isHeld(key), "Lock '" + key + "' should not be held, but is. " + describe());
		return this;
	}

	/**
	 * Asserts that a lock was taken in this test, whether it is still held or not.
	 * @param key the key
	 * @return this tester
	 * @throws AssertionError if it was not
	 */
	public LockTester assertTaken(String key) {
		check(this.taken.contains(key), "Lock '" + key + "' should have been taken, but was not. " + describe());
		return this;
	}

	/**
	 * Asserts that a lock was not taken in this test.
	 * @param key the key
	 * @return this tester
	 * @throws AssertionError if it was
	 */
	public LockTester assertNotTaken(String key) {
		check(!this.taken.contains(key), "Lock '" + key + "' should not have been taken, but was. " + describe());
		return this;
	}

	/**
	 * Returns what was taken in this test, re-entries included.
	 * @return the keys, in the order in which they were taken
	 */
	public List<String> taken() {
		return List.copyOf(this.taken);
	}

	// what a test makes happen

	/**
	 * Makes the next request for a lock find it busy, at once, whatever its wait time.
	 * @param key the key
	 * @return this tester
	 */
	public LockTester makeBusy(String key) {
		this.failures.put(key, Failure.BUSY);
		return this;
	}

	/**
	 * Makes the next request for a lock fail as if the store did not reply, at once.
	 * @param key the key
	 * @return this tester
	 */
	public LockTester makeUnavailable(String key) {
		this.failures.put(key, Failure.UNAVAILABLE);
		return this;
	}

	/**
	 * Takes a lock that is held now away from its holder, who is told as of every loss.
	 * @param key the key
	 * @return this tester
	 * @throws AssertionError if this application does not hold it
	 */
	public LockTester lose(String key) {
		assertHeld(key);
		this.engine.find().ifPresent((present) -> present.forceRelease(key));
		return this;
	}

	/**
	 * Forgets what was taken and what is to fail, and releases all locks that this
	 * application holds. Called after each test method.
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

	// called by the template

	/**
	 * Fails if the test wants that.
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
			case BUSY -> new LockNotAcquiredException(key, "Lock '" + key + "' is busy: the test has made it so");
			case UNAVAILABLE -> new LockUnavailableException(key, "Lock '" + key + "' could not be requested",
					new LockUnavailableException("the test has made it unavailable"));
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
		return "Taken in this test: " + this.taken;
	}

	private static void check(boolean condition, String message) {
		if (!condition) {
			throw new AssertionError(message);
		}
	}

}
