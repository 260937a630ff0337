package io.github.lockspring.store;

import java.time.Duration;

/**
 * Asks to lengthen a lease.
 *
 * @param key the user's key
 * @param token the tenure's owner token
 * @param ttl time that should be left; a lease with more is left alone
 */
public record RenewRequest(String key, OwnerToken token, Duration ttl) {
}
