package io.github.lockspring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.aot.hint.annotation.Reflective;

/**
 * Lets the database refuse this method if another holder has taken its lock meanwhile. At
 * the start of the method, inside its transaction, the fencing token of its lock is
 * compared with the highest one that the database has seen for the key, and the key's row
 * in the table of tokens stays locked until the transaction ends. An older token is
 * refused with a {@code StaleFencingTokenException}, and the transaction rolls back.
 * <p>
 * The lock is that of the innermost method with {@link DistributedLock}, or
 * {@code LockTemplate.execute}, that this method runs in; usually both annotations stand
 * on the same method. Of several keys each one is compared, and so is each lock that a
 * call inside of that method has taken and left to the running transaction. Without such
 * a method, every lock that belongs to the transaction is compared. Rows that a suspended
 * transaction of the same thread has locked are refused with an
 * {@code IllegalStateException}, since the wait for them would never end. A call without
 * a lock, or without a transaction, fails.
 * <p>
 * Data that the method reads is protected, data that was read before is not: pass an id
 * rather than an entity.
 * <p>
 * Found in the same places as {@link DistributedLock} (method, class, interface method,
 * interface; also as a meta-annotation), and applied inside of all other advice. Not for
 * methods of repositories, whose proxies handle calls themselves: put it on the service.
 * With {@code distributed-lock.enabled=false} nothing is fenced.
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
	 * Name of the {@code FencingGuard} bean, where more than one database has one.
	 * @return the bean's name; empty for the only one
	 */
	String guard() default "";

}
