package io.github.lockspring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.aot.hint.annotation.Reflective;
import org.springframework.core.annotation.AliasFor;

/**
 * Runs a method, or every public method of a class, under a lock that all instances of
 * the application share.
 *
 * <pre class="code">
 * &#064;DistributedLock(name = "order", key = "#order.id", ttl = "30s", renew = true)
 * public void ship(Order order) { … }</pre>
 *
 * The nearest annotation wins (method, class, interface method, interface); annotations
 * are never merged. Repeated on one method, all keys are taken in one global order, all
 * or none: {@code ttl}, {@code renew}, {@code minHold}, {@code maxHold} and
 * {@code condition} belong to each key, the smallest {@code waitTime} given counts, and
 * {@code onBusy}, {@code fallback} and {@code onLost} must agree.
 * <p>
 * A parameter of the type {@link io.github.lockspring.FencingToken} receives the token of
 * the method's own lock, whatever the caller passes, usually null. A method has at most
 * one, and such a call takes exactly one key. If the {@link #condition()} is false, and
 * in a {@link #fallback()}, it is what the caller passed.
 * <p>
 * As with {@code @Transactional}, only calls that come from outside go through the proxy
 * and are locked: a method that calls another one of its own object
 * ({@code this.ship(order)}) runs it <em>without</em> that method's lock. So does a call
 * of an object that was created with {@code new}, and the container's own call of a
 * {@code @PostConstruct} or {@code @PreDestroy} method. The start warns of such calls
 * where the code of the bean shows them. Move the annotated method to another bean, or
 * use {@link io.github.lockspring.LockTemplate} there.
 * <p>
 * Every String attribute may contain <code>${…}</code> placeholders. Durations are
 * written with a unit ({@code 500ms}, {@code 30s}, {@code 5m}, {@code 1h}, {@code 1d}) or
 * in ISO form ({@code PT30S}). A wrong annotation stops the start of the application
 * unless only a call can show that it is wrong.
 *
 * @since 0.1
 */
@Target({ ElementType.METHOD, ElementType.TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Reflective
@Inherited
@Documented
@Repeatable(DistributedLocks.class)
public @interface DistributedLock {

	/**
	 * Alias for {@link #key()}.
	 * @return the key
	 */
	@AliasFor("key")
	String value() default "";

	/**
	 * The key: a SpEL expression over {@code #parameterName}, {@code #p0}/{@code #a0},
	 * {@code #root.method}, {@code #root.target}, {@code #root.args} and {@code @bean},
	 * or a template such as <code>order:#{#order.id}</code>. A collection or an array
	 * locks all its elements. Empty: the method itself.
	 * <p>
	 * A value that is no String counts by its {@code toString()}, which must be the same
	 * in all instances. A call is refused where it is seen that it is not: the identity
	 * of an object ({@code Customer@3fee}) as the text or inside of it; a {@code Date} or
	 * a {@code Calendar}; a record that contains one, or a set or map without an order.
	 * Such parts of other classes, and of a text that the expression concatenates, cannot
	 * be seen. Name an identifier.
	 * @return the key
	 */
	@AliasFor("value")
	String key() default "";

	/**
	 * Prefix of the key, as in {@code name:key}, and label of metrics.
	 * @return the name
	 */
	String name() default "";

	/**
	 * Length of the lease. Empty: the property {@code distributed-lock.ttl}, and renewed.
	 * @return the ttl
	 */
	String ttl() default "";

	/**
	 * Whether the lease is kept alive while the method runs. Always on where no
	 * {@link #ttl()} is given.
	 * @return whether to renew
	 */
	boolean renew() default false;

	/**
	 * Longest wait; {@code 0s}: one attempt. Empty: the property
	 * {@code distributed-lock.wait-time}, or one attempt where {@link #onBusy()} skips.
	 * @return the wait time
	 */
	String waitTime() default "";

	/**
	 * Ends the renewal after this long; the lease then runs out. Empty: the property
	 * {@code distributed-lock.max-hold}.
	 * @return the longest hold
	 */
	String maxHold() default "";

	/**
	 * Delays the release until this much time has passed: for jobs that several instances
	 * schedule.
	 * @return the shortest hold
	 */
	String minHold() default "";

	/**
	 * What happens when the lock is busy, and with {@link OnBusy#SKIP_ALSO_UNAVAILABLE}
	 * when it is unavailable.
	 * @return what to do
	 */
	OnBusy onBusy() default OnBusy.THROW;

	/**
	 * SpEL; where it is false the method runs without the lock. Empty: always locked.
	 * @return the condition
	 */
	String condition() default "";

	/**
	 * Name of a method of the same class that is called instead when the lock is busy:
	 * the same parameters, optionally followed by
	 * {@link io.github.lockspring.LockNotAcquiredException}. It is called on the object
	 * itself, without the advice of its own annotations. Not with an {@link #onBusy()}
	 * that skips.
	 * @return the method's name
	 */
	String fallback() default "";

	/**
	 * What happens when the lock is lost while the method runs.
	 * @return what to do
	 */
	OnLost onLost() default OnLost.THROW;

}
