/**
 * Holds a lock for as long as the work lasts: local queue, waiting, lease, watchdog and
 * release.
 */
@NullMarked
package io.github.lockspring.engine;

import org.jspecify.annotations.NullMarked;
