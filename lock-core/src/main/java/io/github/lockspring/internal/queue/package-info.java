/**
 * Locks as queues of ephemeral entries on a server such as ZooKeeper or etcd. The first
 * entry owns the lock.
 */
@NullMarked
package io.github.lockspring.internal.queue;

import org.jspecify.annotations.NullMarked;
