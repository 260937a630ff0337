/**
 * A shop of the failure lab, in a JVM of its own: the process, and what runs inside of
 * it.
 */
@NullMarked
package io.github.lockspring.lab.worker;

import org.jspecify.annotations.NullMarked;
