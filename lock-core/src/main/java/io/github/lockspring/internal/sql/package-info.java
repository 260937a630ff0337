/**
 * Names and row keys of this library's database tables.
 */
@NullMarked
package io.github.lockspring.internal.sql;

import org.jspecify.annotations.NullMarked;
