/**
 * Measures what an uncontended lock costs on each topology of Redis.
 */
@NullMarked
package io.github.lockspring.benchmarks.topology;

import org.jspecify.annotations.NullMarked;
