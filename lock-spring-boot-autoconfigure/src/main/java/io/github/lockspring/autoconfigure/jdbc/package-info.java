/**
 * Wires the store in a database, and creates the tables of locks and of fencing tokens.
 */
@NullMarked
package io.github.lockspring.autoconfigure.jdbc;

import org.jspecify.annotations.NullMarked;
