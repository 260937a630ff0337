package io.github.lockspring.autoconfigure.internal;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.context.annotation.Conditional;

/**
 * Matches unless locks are switched off with {@code distributed-lock.enabled=false}, or
 * if they are. The property is read as Spring Boot binds it: {@code yes}, {@code on} and
 * {@code 1} are true, and a value that is not a boolean stops the start. With Spring
 * Boot's own conditions on properties {@code on} would be neither, and methods would run
 * without their locks.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Conditional(OnLocksEnabledCondition.class)
public @interface ConditionalOnLocksEnabled {

	/**
	 * Returns the value that matches.
	 */
	boolean value() default true;

}
