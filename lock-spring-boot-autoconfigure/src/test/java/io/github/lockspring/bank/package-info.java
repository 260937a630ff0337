/**
 * The bank test. Several processes move money between a few accounts while processes are
 * paused and Redis loses its data; an auditor checks that no money was created or lost.
 */
@NullMarked
package io.github.lockspring.bank;

import org.jspecify.annotations.NullMarked;
