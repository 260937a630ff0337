/**
 * The store on Redis (one server, Sentinel or Cluster): its settings, key names, Lua
 * scripts, inbox and batched renewal.
 */
@NullMarked
package io.github.lockspring.redis;

import org.jspecify.annotations.NullMarked;
