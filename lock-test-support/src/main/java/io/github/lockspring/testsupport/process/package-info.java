/**
 * Processes for tests: JVMs that a test talks with, stops and kills.
 */
@NullMarked
package io.github.lockspring.testsupport.process;

import org.jspecify.annotations.NullMarked;
