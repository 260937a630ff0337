/**
 * What needs a database: the store of locks in a table, and the fencing guard, which
 * refuses a writer whose fencing token is older than one that the database has seen.
 */
@NullMarked
package io.github.lockspring.jdbc;

import org.jspecify.annotations.NullMarked;
