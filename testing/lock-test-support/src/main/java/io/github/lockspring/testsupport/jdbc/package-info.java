/**
 * Databases for tests. Needs spring-jdbc and the drivers of the databases that are used.
 */
@NullMarked
package io.github.lockspring.testsupport.jdbc;

import org.jspecify.annotations.NullMarked;
