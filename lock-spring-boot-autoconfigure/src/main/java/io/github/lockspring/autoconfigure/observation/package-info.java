/**
 * Meters and observations of locks.
 */
@NullMarked
package io.github.lockspring.autoconfigure.observation;

import org.jspecify.annotations.NullMarked;
