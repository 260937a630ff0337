package io.github.lockspring.autoconfigure.internal;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.context.annotation.Conditional;

/**
 * Matches if a property that is on or off has a certain value, as
 * {@link DistributedLockProperties} would read it: {@code yes}, {@code on} and {@code 1}
 * are true. A value that is no boolean stops the start.
 *
 * @since 0.1
 */
@Target({ ElementType.TYPE, ElementType.METHOD })
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Conditional(OnFlagCondition.class)
public @interface ConditionalOnFlag {

	/**
	 * Returns the whole name of the property.
	 */
	String name();

	/**
	 * Returns the value without the property.
	 */
	boolean byDefault();

	/**
	 * Returns the value that matches.
	 */
	boolean havingValue() default true;

}
