/**
 * What the stores on Redis share: names of keys, scripts, and what a server is asked.
 */
@NullMarked
package io.github.lockspring.redis.internal;

import org.jspecify.annotations.NullMarked;
