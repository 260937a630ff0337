/**
 * Fencing: a guard in front of a resource refuses a writer whose fencing token is older
 * than one that it has seen.
 */
@NullMarked
package io.github.lockspring.fencing;

import org.jspecify.annotations.NullMarked;
