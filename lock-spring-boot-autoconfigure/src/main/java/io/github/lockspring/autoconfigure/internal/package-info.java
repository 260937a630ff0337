/**
 * Types that the packages of the auto-configuration share: the condition on
 * {@code distributed-lock.enabled}, and the engine if it was created.
 */
@NullMarked
package io.github.lockspring.autoconfigure.internal;

import org.jspecify.annotations.NullMarked;
