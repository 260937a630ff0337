/**
 * What happened in a run, and the verdict on it.
 */
@NullMarked
package io.github.lockspring.sample.lab.history;

import org.jspecify.annotations.NullMarked;
