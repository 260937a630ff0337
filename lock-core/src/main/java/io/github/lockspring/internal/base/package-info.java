/**
 * What all rooms stand on, and what needs none of them: the locks of the current call,
 * the bounds of options, threads.
 */
@NullMarked
package io.github.lockspring.internal.base;

import org.jspecify.annotations.NullMarked;
