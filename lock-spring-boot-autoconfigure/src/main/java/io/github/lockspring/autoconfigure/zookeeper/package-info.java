/**
 * Auto-configuration of the store in ZooKeeper.
 */
@NullMarked
package io.github.lockspring.autoconfigure.zookeeper;

import org.jspecify.annotations.NullMarked;
