/**
 * Fencing of resources. A guard refuses a writer whose fencing token is older than one
 * that it has seen.
 */
@NullMarked
package io.github.lockspring.internal.fencing;

import org.jspecify.annotations.NullMarked;
