/**
 * The lock store for ZooKeeper.
 */
@NullMarked
package io.github.lockspring.zookeeper;

import org.jspecify.annotations.NullMarked;
