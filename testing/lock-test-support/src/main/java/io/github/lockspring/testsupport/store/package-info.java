/**
 * The contract that every store passes, as abstract test classes to extend.
 */
@NullMarked
package io.github.lockspring.testsupport.store;

import org.jspecify.annotations.NullMarked;
