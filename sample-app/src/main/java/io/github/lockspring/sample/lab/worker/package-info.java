/**
 * A shop of the failure lab, in a JVM of its own: the process, and what runs inside of
 * it.
 */
@NullMarked
package io.github.lockspring.sample.lab.worker;

import org.jspecify.annotations.NullMarked;
