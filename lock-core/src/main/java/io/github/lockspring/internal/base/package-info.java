/**
 * Foundations of the other packages, none of which it imports: the locks of the current
 * call, bounds of options, texts of keys, threads.
 */
@NullMarked
package io.github.lockspring.internal.base;

import org.jspecify.annotations.NullMarked;
