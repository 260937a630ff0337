/**
 * Locks and transactions: a lock that is taken inside a transaction ends with it, and a
 * transaction whose lock was lost does not commit.
 */
@NullMarked
package io.github.lockspring.transaction;

import org.jspecify.annotations.NullMarked;
