/**
 * Wires {@code @Fenced} and the fencing guard in a database.
 */
@NullMarked
package io.github.lockspring.autoconfigure.fencing;

import org.jspecify.annotations.NullMarked;
