/**
 * The protocol of {@code docs/protocol.md} as a model that is explored completely: every
 * order of its steps, for a few instances and a few faults.
 */
@NullMarked
package io.github.lockspring.model;

import org.jspecify.annotations.NullMarked;
