/**
 * The SPI: the few atomic requests put to a shared store, their answers, and the
 * in-memory store.
 */
@NullMarked
package io.github.lockspring.store;

import org.jspecify.annotations.NullMarked;
