package io.github.lockspring.autoconfigure;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.beans.factory.annotation.Qualifier;

/**
 * Marks the {@link javax.sql.DataSource} bean whose database has the locks. It should be
 * used for nothing else, with at least {@code distributed-lock.jdbc.connections}
 * connections and, on PostgreSQL, one more. Best declared with
 * {@code @Bean(defaultCandidate = false)}, so the rest of the application does not find
 * it.
 *
 * @since 0.1
 */
@Target({ ElementType.FIELD, ElementType.METHOD, ElementType.PARAMETER, ElementType.TYPE, ElementType.ANNOTATION_TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Qualifier
public @interface LockDataSource {

}
