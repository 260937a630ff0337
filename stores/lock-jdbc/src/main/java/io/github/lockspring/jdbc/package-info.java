/**
 * The lock store for databases: a table of locks and a table of waiters.
 */
@NullMarked
package io.github.lockspring.jdbc;

import org.jspecify.annotations.NullMarked;
