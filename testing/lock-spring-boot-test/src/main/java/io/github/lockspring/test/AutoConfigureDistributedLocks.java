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
 * Configures locks in a test: in memory, or switched off; and a {@link LockTester}, which
 * sees them. Needed in slices such as {@code @WebMvcTest}, which have no locks otherwise;
 * with {@code @SpringBootTest} it takes the place of {@code distributed-lock.store}. A
 * {@code LockStore} bean of the application stays.
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
	 * @return false if annotated methods run without their lock
	 */
	boolean enabled() default true;

}
