/**
 * Wiring for Spring Boot; nobody imports it.
 */
@NullMarked
package io.github.lockspring.autoconfigure;

import org.jspecify.annotations.NullMarked;
