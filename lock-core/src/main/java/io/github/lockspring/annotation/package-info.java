/**
 * The annotations that a user puts on methods.
 */
@NullMarked
package io.github.lockspring.annotation;

import org.jspecify.annotations.NullMarked;
