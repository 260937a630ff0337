/**
 * Wires the stores on Redis: one server, Sentinel or Cluster, and Redlock.
 */
@NullMarked
package io.github.lockspring.autoconfigure.redis;

import org.jspecify.annotations.NullMarked;
