/**
 * What tests share: a real redis-server and a proxy that loses connections and bytes.
 */
@NullMarked
package io.github.lockspring.testsupport;

import org.jspecify.annotations.NullMarked;
