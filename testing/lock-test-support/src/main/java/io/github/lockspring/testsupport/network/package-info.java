/**
 * Network faults and certificates for tests.
 */
@NullMarked
package io.github.lockspring.testsupport.network;

import org.jspecify.annotations.NullMarked;
