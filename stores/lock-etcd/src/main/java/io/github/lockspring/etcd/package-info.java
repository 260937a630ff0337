/**
 * The store of locks in etcd.
 */
@NullMarked
package io.github.lockspring.etcd;

import org.jspecify.annotations.NullMarked;
