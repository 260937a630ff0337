package io.github.lockspring.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.context.PropertyMapping;
import org.springframework.test.context.TestPropertySource;

/**
 * Configures locks in memory, or none, for a test, and a {@link LockTester} that records
 * them. Required in slices such as {@code @WebMvcTest}, which otherwise have no locks.
 * With {@code @SpringBootTest} it overrides {@code distributed-lock.store}, but not a
 * {@code LockStore} bean of the application.
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
@TestPropertySource(properties = "distributed-lock.store=memory")
public @interface AutoConfigureDistributedLocks {

	/**
	 * Returns the value of {@code distributed-lock.enabled}.
	 * @return false to run annotated methods without their locks
	 */
	boolean enabled() default true;

}
