/**
 * What the rooms inside share: a lock with its key, a request with its label, the unit of
 * work that a lock may belong to.
 */
@NullMarked
package io.github.lockspring.internal;

import org.jspecify.annotations.NullMarked;
