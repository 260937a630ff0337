/**
 * Real redis-servers for tests: alone, with sentinels, as a cluster, and independent.
 */
@NullMarked
package io.github.lockspring.testsupport.redis;

import org.jspecify.annotations.NullMarked;
