/**
 * Wires locks into a Spring Boot application. No other module imports this package.
 */
@NullMarked
package io.github.lockspring.autoconfigure;

import org.jspecify.annotations.NullMarked;
