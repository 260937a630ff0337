/**
 * Real redis-servers for tests: single, with sentinels, as a cluster, and independent.
 */
@NullMarked
package io.github.lockspring.testsupport.redis;

import org.jspecify.annotations.NullMarked;
