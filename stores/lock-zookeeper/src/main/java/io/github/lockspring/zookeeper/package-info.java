/**
 * The store of locks in ZooKeeper.
 */
@NullMarked
package io.github.lockspring.zookeeper;

import org.jspecify.annotations.NullMarked;
