/**
 * Several processes that want the same lock: what each library makes of it.
 */
@NullMarked
package io.github.lockspring.benchmarks.contention;

import org.jspecify.annotations.NullMarked;
