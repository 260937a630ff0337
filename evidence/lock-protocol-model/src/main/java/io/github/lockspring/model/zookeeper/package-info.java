/**
 * Queues of entries on ZooKeeper as a model.
 */
@NullMarked
package io.github.lockspring.model.zookeeper;

import org.jspecify.annotations.NullMarked;
