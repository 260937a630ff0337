package io.github.lockspring.internal.engine;

import io.github.lockspring.store.LockStore.RenewRequest;

/**
 * A lease that is to be renewed now.
 *
 * @param lock the lock of its key
 * @param request the request
 */
record Renewal(KeyLock lock, RenewRequest request) {
}
