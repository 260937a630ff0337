/**
 * Types that the internal packages share: a lock with its key, a request with its label,
 * the unit of work that a lock may belong to, and stages.
 */
@NullMarked
package io.github.lockspring.internal;

import org.jspecify.annotations.NullMarked;
