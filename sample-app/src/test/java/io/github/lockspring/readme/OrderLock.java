package io.github.lockspring.readme;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import io.github.lockspring.DistributedLock;

import org.springframework.core.annotation.AliasFor;

/**
 * An annotation of one's own.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@DistributedLock(name = "order", key = "#id")
public @interface OrderLock {

	@AliasFor(annotation = DistributedLock.class)
	String waitTime() default "";

}
