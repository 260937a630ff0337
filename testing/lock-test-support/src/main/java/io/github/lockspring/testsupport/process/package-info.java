/**
 * JVMs that a test starts, communicates with, pauses and kills.
 */
@NullMarked
package io.github.lockspring.testsupport.process;

import org.jspecify.annotations.NullMarked;
