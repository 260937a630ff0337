/**
 * Types that the stores on Redis share: names of keys, loading of scripts, the check of a
 * server.
 */
@NullMarked
package io.github.lockspring.redis.internal;

import org.jspecify.annotations.NullMarked;
