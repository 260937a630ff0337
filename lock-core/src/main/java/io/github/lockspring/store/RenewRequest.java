package io.github.lockspring.store;

import java.time.Duration;

/**
 * Requests the extension of a lease.
 *
 * @param key the user's key
 * @param token the owner token of the ownership
 * @param ttl time that must be left; a lease with more is not changed
 * @since 0.1
 */
public record RenewRequest(String key, OwnerToken token, Duration ttl) {
}
