/**
 * Servers of etcd for tests. Needs an {@code etcd} on the PATH, and no client library.
 */
@NullMarked
package io.github.lockspring.testsupport.etcd;

import org.jspecify.annotations.NullMarked;
