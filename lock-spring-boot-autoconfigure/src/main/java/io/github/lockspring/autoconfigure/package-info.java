/**
 * Wires locks into a Spring Boot application. No other package depends on this one.
 */
@NullMarked
package io.github.lockspring.autoconfigure;

import org.jspecify.annotations.NullMarked;
