/**
 * The lock store for etcd.
 */
@NullMarked
package io.github.lockspring.etcd;

import org.jspecify.annotations.NullMarked;
