package io.github.lockspring.testsupport.history;

/**
 * A lock that the store granted to an instance. Times are those of
 * {@link System#nanoTime()}.
 *
 * @param worker the process
 * @param key the key
 * @param token the fencing token of the first hold; the instance may pass the lock on
 * inside itself, with the next numbers
 * @param asked before the store was asked
 * @param acquired after it had answered
 * @param lease the length of the lease, in nanoseconds
 * @since 0.1
 */
public record Acquisition(String worker, String key, long token, long asked, long acquired, long lease) {
}
