/**
 * The fencing guard in a database, which refuses a writer whose fencing token is older
 * than one that the database has seen.
 */
@NullMarked
package io.github.lockspring.jdbc;

import org.jspecify.annotations.NullMarked;
