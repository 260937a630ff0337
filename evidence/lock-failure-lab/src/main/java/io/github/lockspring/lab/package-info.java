/**
 * The failure lab: runs each known recipe for locks under each fault, with real processes
 * and servers, and judges what happened.
 */
@NullMarked
package io.github.lockspring.lab;

import org.jspecify.annotations.NullMarked;
