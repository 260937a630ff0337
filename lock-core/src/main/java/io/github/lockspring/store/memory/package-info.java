/**
 * A store in the memory of this process, for tests and for a single instance.
 */
@NullMarked
package io.github.lockspring.store.memory;

import org.jspecify.annotations.NullMarked;
