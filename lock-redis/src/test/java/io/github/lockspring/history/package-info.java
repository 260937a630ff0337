/**
 * The history test: several processes take a few locks while everything that can fail
 * does, write down what they held, and a checker reads it afterwards.
 */
@NullMarked
package io.github.lockspring.history;

import org.jspecify.annotations.NullMarked;
