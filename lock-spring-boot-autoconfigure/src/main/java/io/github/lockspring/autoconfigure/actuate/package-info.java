/**
 * The endpoint and the health indicator of locks, for Actuator.
 */
@NullMarked
package io.github.lockspring.autoconfigure.actuate;

import org.jspecify.annotations.NullMarked;
