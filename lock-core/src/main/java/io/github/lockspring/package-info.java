/**
 * The public API: annotations, lock requests, held locks, events and exceptions.
 */
@NullMarked
package io.github.lockspring;

import org.jspecify.annotations.NullMarked;
