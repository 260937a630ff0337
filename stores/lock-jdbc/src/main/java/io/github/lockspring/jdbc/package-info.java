/**
 * The store in a database: locks in a table, and waiters in another one.
 */
@NullMarked
package io.github.lockspring.jdbc;

import org.jspecify.annotations.NullMarked;
