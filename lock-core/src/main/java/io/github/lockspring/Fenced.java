package io.github.lockspring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.aot.hint.annotation.Reflective;

/**
 * Lets the database reject this method if a later holder of its lock has been there
 * before, and keep later ones waiting until its transaction has ended. When the method
 * starts, inside its transaction, the fencing token of its lock is compared with the
 * highest token stored for the key. An older token is rejected with a
 * {@code StaleFencingTokenException}, and the transaction rolls back. The key's row in
 * the table of tokens stays locked until the transaction ends.
 * <p>
 * The lock is that of the innermost enclosing {@link DistributedLock} method or
 * {@code LockTemplate.execute}; usually both annotations are on the same method. If the
 * lock has several keys, each of them is checked. So is each lock that a call inside that
 * method has acquired and left to the running transaction. Without such a method, every
 * lock that belongs to the transaction is checked. If a suspended transaction of the same
 * thread has locked a row, the call fails with an {@code IllegalStateException}, since
 * waiting for that row would never end. A call without a lock or without a transaction
 * also fails.
 * <p>
 * Data that the method reads is protected; data read before it is not. Pass an id rather
 * than an entity.
 * <p>
 * Allowed in the same places as {@link DistributedLock} (method, class, interface method,
 * interface; also as a meta-annotation), and applied inside all other advice.
 * Repositories handle calls in their own proxies: annotate the service instead. With
 * {@code distributed-lock.enabled=false} nothing is fenced.
 *
 * @since 0.1
 */
@Target({ ElementType.METHOD, ElementType.TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Reflective
@Documented
@Inherited
public @interface Fenced {

	/**
	 * Name of the {@code FencingGuard} bean, needed if there is more than one.
	 * @return the bean's name; empty for the only one
	 */
	String guard() default "";

}
