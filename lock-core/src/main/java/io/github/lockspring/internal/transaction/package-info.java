/**
 * Connects locks with transactions. A lock that is acquired inside a transaction is
 * released with it, and a transaction whose lock was lost does not commit.
 */
@NullMarked
package io.github.lockspring.internal.transaction;

import org.jspecify.annotations.NullMarked;
