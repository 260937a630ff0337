/**
 * Auto-configuration of the store in etcd.
 */
@NullMarked
package io.github.lockspring.autoconfigure.etcd;

import org.jspecify.annotations.NullMarked;
