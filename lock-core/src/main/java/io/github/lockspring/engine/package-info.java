/**
 * The engine.
 */
@NullMarked
package io.github.lockspring.engine;

import org.jspecify.annotations.NullMarked;
