/**
 * The HTTP API of the failure lab.
 */
@NullMarked
package io.github.lockspring.lab.web;

import org.jspecify.annotations.NullMarked;
