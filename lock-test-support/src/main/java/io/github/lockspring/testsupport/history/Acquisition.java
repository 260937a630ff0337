package io.github.lockspring.testsupport.history;

/**
 * The store gave a lock to an instance. Times are those of {@link System#nanoTime()}.
 *
 * @param worker the process
 * @param key the key
 * @param token the fencing token of the first hold; the instance may pass the lock on
 * inside itself, with the next numbers
 * @param asked before the store was asked
 * @param acquired after it had answered
 * @param lease the length of the lease, in nanoseconds
 */
public record Acquisition(String worker, String key, long token, long asked, long acquired, long lease) {
}
