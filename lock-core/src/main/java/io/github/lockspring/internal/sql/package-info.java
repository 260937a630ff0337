/**
 * Names of tables and keys of rows, for everything of ours that is in a database.
 */
@NullMarked
package io.github.lockspring.internal.sql;

import org.jspecify.annotations.NullMarked;
