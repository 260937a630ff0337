/**
 * Queues of entries on etcd as a model.
 */
@NullMarked
package io.github.lockspring.model.etcd;

import org.jspecify.annotations.NullMarked;
