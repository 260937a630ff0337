/**
 * The SPI of stores: the atomic requests to a shared store, their results, and the inbox
 * of an instance.
 */
@NullMarked
package io.github.lockspring.store;

import org.jspecify.annotations.NullMarked;
