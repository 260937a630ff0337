/**
 * The guard in a database, which refuses a writer whose fencing token is older than one
 * that the database has seen. Needs {@code spring-jdbc}.
 */
@NullMarked
package io.github.lockspring.fencing;

import org.jspecify.annotations.NullMarked;
