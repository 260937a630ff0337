/**
 * The public vocabulary: requesting a lock, holding it, and the exceptions.
 */
@NullMarked
package io.github.lockspring;

import org.jspecify.annotations.NullMarked;
