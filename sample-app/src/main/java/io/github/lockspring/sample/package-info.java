/**
 * A small shop whose instances share orders, stock and a nightly job.
 */
@NullMarked
package io.github.lockspring.sample;

import org.jspecify.annotations.NullMarked;
