/**
 * Machinery of the engine: a clock, threads, a dispatcher and a client for anything that
 * is sent to the store, and the listeners. Knows neither the state of a lock nor who
 * holds it. Internal: for the engine only.
 */
@NullMarked
package io.github.lockspring.internal.engine.support;

import org.jspecify.annotations.NullMarked;
