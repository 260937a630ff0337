/**
 * The Redlock store: locks on a majority of independent Redis servers. It uses the key
 * names of {@code redis.internal} and the connections of {@code redis.internal.client}.
 */
@NullMarked
package io.github.lockspring.redis.redlock;

import org.jspecify.annotations.NullMarked;
