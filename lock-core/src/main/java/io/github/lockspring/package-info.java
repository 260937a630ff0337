/**
 * The vocabulary: what a program says to take a lock, and what it is told.
 */
@NullMarked
package io.github.lockspring;

import org.jspecify.annotations.NullMarked;
