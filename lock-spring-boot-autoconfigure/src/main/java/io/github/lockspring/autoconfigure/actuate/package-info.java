/**
 * Wires what Actuator shows of locks: the endpoint and the health indicator.
 */
@NullMarked
package io.github.lockspring.autoconfigure.actuate;

import org.jspecify.annotations.NullMarked;
