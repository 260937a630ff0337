/**
 * Histories of locks for every store. Processes record what they hold under injected
 * faults, and a checker searches for two simultaneous holders and for tokens that do not
 * grow.
 */
@NullMarked
package io.github.lockspring.testsupport.history;

import org.jspecify.annotations.NullMarked;
