/**
 * The servers and networks of the failure lab: child processes, proxies, a database.
 */
@NullMarked
package io.github.lockspring.lab.server;

import org.jspecify.annotations.NullMarked;
