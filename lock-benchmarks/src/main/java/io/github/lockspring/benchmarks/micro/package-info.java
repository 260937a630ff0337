/**
 * JMH benchmarks of what an uncontended call costs: the advice, the engine, the store.
 */
@NullMarked
package io.github.lockspring.benchmarks.micro;

import org.jspecify.annotations.NullMarked;
