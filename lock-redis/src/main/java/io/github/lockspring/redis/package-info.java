/**
 * The store on Redis: templates and Lua scripts.
 */
@NullMarked
package io.github.lockspring.redis;

import org.jspecify.annotations.NullMarked;
