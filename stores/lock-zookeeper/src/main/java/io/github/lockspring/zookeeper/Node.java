package io.github.lockspring.zookeeper;

import io.github.lockspring.internal.queue.Entry;

/**
 * A node in the queue of a lock.
 *
 * @param id its path
 * @param token its owner token
 */
record Node(String id, String token) implements Entry {
}
