/**
 * What happened in a run, and the verdict on it.
 */
@NullMarked
package io.github.lockspring.lab.history;

import org.jspecify.annotations.NullMarked;
