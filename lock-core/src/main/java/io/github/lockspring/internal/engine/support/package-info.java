/**
 * Machinery of the engine: the clock, threads, the monitor of a key, the client that
 * sends requests to the store and remembers whether its servers answer, listeners and
 * meters. Depends on neither the state of a lock nor its holder. Internal: for the engine
 * only.
 */
@NullMarked
package io.github.lockspring.internal.engine.support;

import org.jspecify.annotations.NullMarked;
