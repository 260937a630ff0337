/**
 * A fencing guard in a database: rejects writers with an outdated fencing token. Needs
 * {@code spring-jdbc}.
 */
@NullMarked
package io.github.lockspring.fencing;

import org.jspecify.annotations.NullMarked;
