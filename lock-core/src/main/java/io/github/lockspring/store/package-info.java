/**
 * The SPI of stores: atomic requests, their results, and the inbox of an instance.
 */
@NullMarked
package io.github.lockspring.store;

import org.jspecify.annotations.NullMarked;
