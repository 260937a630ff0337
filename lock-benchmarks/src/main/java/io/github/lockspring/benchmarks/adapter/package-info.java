/**
 * One class for each kind of lock that is compared, set up as its own documentation says.
 */
@NullMarked
package io.github.lockspring.benchmarks.adapter;

import org.jspecify.annotations.NullMarked;
