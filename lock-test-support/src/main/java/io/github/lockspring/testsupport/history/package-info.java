/**
 * Histories: processes take locks while everything fails, write down what they hold, and
 * a checker looks for two holders at a time and for tokens that do not grow. For every
 * store.
 */
@NullMarked
package io.github.lockspring.testsupport.history;

import org.jspecify.annotations.NullMarked;
