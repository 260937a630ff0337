/**
 * The properties {@code distributed-lock.*}, their validation, and the analysis of wrong
 * values.
 */
@NullMarked
package io.github.lockspring.autoconfigure.properties;

import org.jspecify.annotations.NullMarked;
