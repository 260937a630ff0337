package io.github.lockspring.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.context.PropertyMapping;

/**
 * Configures locks in a test: in memory, or switched off. Needed in slices such as
 * {@code @WebMvcTest}, which have no locks otherwise; with {@code @SpringBootTest} it
 * replaces the application's store.
 *
 * @since 0.1
 * @see LockTester
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@ImportAutoConfiguration
@PropertyMapping("distributed-lock")
public @interface AutoConfigureDistributedLocks {

	/**
	 * Returns the value of {@code distributed-lock.enabled}.
	 * @return false if annotated methods run without their lock
	 */
	boolean enabled() default true;

	/**
	 * Returns the value of {@code distributed-lock.store}.
	 * @return the store, which a slice has only in memory
	 */
	String store() default "memory";

}
