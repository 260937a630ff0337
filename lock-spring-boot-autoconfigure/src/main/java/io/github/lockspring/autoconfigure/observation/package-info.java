/**
 * What can be seen of the locks of an application from outside: meters and observations.
 */
@NullMarked
package io.github.lockspring.autoconfigure.observation;

import org.jspecify.annotations.NullMarked;
