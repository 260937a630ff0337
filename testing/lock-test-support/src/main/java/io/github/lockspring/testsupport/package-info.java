/**
 * What tests of all kinds share. Its packages contain the contract of stores, and
 * servers, proxies, processes and records for tests.
 */
@NullMarked
package io.github.lockspring.testsupport;

import org.jspecify.annotations.NullMarked;
