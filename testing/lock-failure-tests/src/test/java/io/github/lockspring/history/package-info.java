/**
 * The history test. Several processes acquire a few locks under injected faults and
 * record what they held; a checker validates the records afterwards.
 */
@NullMarked
package io.github.lockspring.history;

import org.jspecify.annotations.NullMarked;
