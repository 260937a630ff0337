/**
 * What the packages of the auto-configuration share.
 */
@NullMarked
package io.github.lockspring.autoconfigure.internal;

import org.jspecify.annotations.NullMarked;
