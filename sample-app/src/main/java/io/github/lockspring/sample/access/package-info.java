/**
 * Who may send requests to the sample, and how large they are.
 */
@NullMarked
package io.github.lockspring.sample.access;

import org.jspecify.annotations.NullMarked;
