/**
 * Measures each library's lock under contention between several processes.
 */
@NullMarked
package io.github.lockspring.benchmarks.contention;

import org.jspecify.annotations.NullMarked;
