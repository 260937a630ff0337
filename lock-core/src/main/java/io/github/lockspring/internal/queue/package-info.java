/**
 * Locks as queues of ephemeral entries, which servers such as ZooKeeper and etcd keep in
 * order: the first entry owns the lock.
 */
@NullMarked
package io.github.lockspring.internal.queue;

import org.jspecify.annotations.NullMarked;
