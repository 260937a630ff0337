/**
 * A redis-server for the application around the lab, and signals to both of them.
 */
@NullMarked
package io.github.lockspring.lab.experiment;

import org.jspecify.annotations.NullMarked;
