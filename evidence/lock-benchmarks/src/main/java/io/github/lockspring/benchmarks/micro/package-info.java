/**
 * JMH benchmarks of the cost of an uncontended call in the advice, the engine and the
 * store.
 */
@NullMarked
package io.github.lockspring.benchmarks.micro;

import org.jspecify.annotations.NullMarked;
