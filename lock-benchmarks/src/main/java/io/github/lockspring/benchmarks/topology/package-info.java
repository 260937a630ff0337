/**
 * What an uncontended lock costs on each way of running Redis.
 */
@NullMarked
package io.github.lockspring.benchmarks.topology;

import org.jspecify.annotations.NullMarked;
