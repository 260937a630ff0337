/**
 * Adapters for the compared locks, each configured as its own documentation says.
 */
@NullMarked
package io.github.lockspring.benchmarks.adapter;

import org.jspecify.annotations.NullMarked;
