/**
 * Test support for applications with locks: locks in test slices, assertions, and locks
 * that are busy, unavailable or lost on purpose.
 */
@NullMarked
package io.github.lockspring.test;

import org.jspecify.annotations.NullMarked;
