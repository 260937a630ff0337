package io.github.lockspring.testsupport.etcd;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import io.github.lockspring.testsupport.Requires;

/**
 * Marks tests that need etcd, Debian's etcd-server.
 *
 * @since 0.1
 */
@Target({ ElementType.TYPE, ElementType.METHOD })
@Retention(RetentionPolicy.RUNTIME)
@Requires(name = "etcd", commands = "etcd")
public @interface RequiresEtcd {

}
