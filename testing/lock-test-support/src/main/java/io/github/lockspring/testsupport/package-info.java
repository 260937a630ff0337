/**
 * Test support for all modules: the contract of stores, and servers, proxies, processes
 * and records for tests.
 */
@NullMarked
package io.github.lockspring.testsupport;

import org.jspecify.annotations.NullMarked;
