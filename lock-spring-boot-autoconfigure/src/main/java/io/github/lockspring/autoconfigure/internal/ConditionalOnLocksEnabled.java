package io.github.lockspring.autoconfigure.internal;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Matches unless locks are switched off with {@code distributed-lock.enabled=false}.
 *
 * @since 0.1
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@ConditionalOnFlag(name = "distributed-lock.enabled", byDefault = true)
public @interface ConditionalOnLocksEnabled {

}
