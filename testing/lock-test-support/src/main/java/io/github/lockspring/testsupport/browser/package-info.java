/**
 * A browser for the tests of pages.
 */
@NullMarked
package io.github.lockspring.testsupport.browser;

import org.jspecify.annotations.NullMarked;
