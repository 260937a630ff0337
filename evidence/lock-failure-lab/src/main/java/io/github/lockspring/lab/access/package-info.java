/**
 * Who may send requests to the lab and the application around it, and how large they are.
 */
@NullMarked
package io.github.lockspring.lab.access;

import org.jspecify.annotations.NullMarked;
