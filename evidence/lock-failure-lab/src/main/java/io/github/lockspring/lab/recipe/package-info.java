/**
 * The known recipes for locks, each as its source shows it, and Lockspring.
 */
@NullMarked
package io.github.lockspring.lab.recipe;

import org.jspecify.annotations.NullMarked;
