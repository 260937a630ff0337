/**
 * What a user writes on a method.
 */
@NullMarked
package io.github.lockspring.annotation;

import org.jspecify.annotations.NullMarked;
