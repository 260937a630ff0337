package io.github.lockspring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.aot.hint.annotation.Reflective;

/**
 * Runs a method, or every public method of a class, under a lock that all instances of
 * the application share.
 *
 * <pre class="code">
 * &#064;DistributedLock(name = "order", key = "#order.id", ttl = "30s", renew = true)
 * public void ship(Order order) { … }</pre>
 *
 * The nearest annotation wins (method, class, interface method, interface); annotations
 * are never merged. A call has one lock, which may have several keys: they are taken in
 * one global order, all or none. Inside the method, {@code HeldLock.current()} returns
 * the lock, and with it the fencing token.
 * <p>
 * On a class or an interface it covers public methods. A method that has it itself may be
 * public, or, through a class proxy, protected or package-private; one that no proxy can
 * intercept stops the start: private, static and final methods, package-private ones of
 * another package, and methods of records, enums, final and sealed classes.
 * <p>
 * As with {@code @Transactional}, only calls that come from outside go through the proxy
 * and are locked: a method that calls another one of its own object
 * ({@code this.ship(order)}) runs it <em>without</em> that method's lock. So does a call
 * of an object that was created with {@code new}, and the container's own call of a
 * {@code @PostConstruct} or {@code @PreDestroy} method. The start warns of such calls
 * where the code of the bean shows them. Move the annotated method to another bean, or
 * use {@link LockTemplate} there.
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
public @interface DistributedLock {

	/**
	 * The key: a SpEL expression over {@code #parameterName}, {@code #p0}/{@code #a0},
	 * {@code #root.method}, {@code #root.target}, {@code #root.args} and {@code @bean}.
	 * Text is written in quotes and joined with values by {@code +}, as in
	 * {@code 'order:' + #order.id}. A collection or an array locks all its elements;
	 * <code>{'order:' + #order.id, 'customer:' + #order.customer}</code> locks an order
	 * and a customer. Empty: the method itself.
	 * <p>
	 * A value that is no String counts by its {@code toString()}, which must be the same
	 * in all instances. A call is refused where it is seen that it is not: the identity
	 * of an object ({@code Customer@3fee}) as the text or inside of it; a {@code Date} or
	 * a {@code Calendar}; a record that contains one, or a set or map without an order.
	 * Such parts of other classes cannot be seen. Name an identifier.
	 * <p>
	 * A call fails with an {@link IllegalArgumentException}, and the method does not run,
	 * if the key, an element of it or a value that is joined with text is null, empty or
	 * cannot be evaluated.
	 * @return the key
	 */
	String key() default "";

	/**
	 * Prefix of the key, as in {@code name:key}, and label of metrics.
	 * @return the name
	 */
	String name() default "";

	/**
	 * Length of the lease: how soon others may go on after a crash of the holder. It does
	 * not limit the work, unless {@link #renew()} is false. At least 300 milliseconds, or
	 * 100 without renewal. Empty: the property {@code distributed-lock.ttl}.
	 * @return the ttl
	 */
	String ttl() default "";

	/**
	 * Whether the lease is kept alive while the method runs. If not, it ends after the
	 * {@link #ttl()}, or without one after that of the property, whatever happens.
	 * @return whether to renew
	 */
	boolean renew() default true;

	/**
	 * Longest wait; {@code 0s}: one attempt. Empty: the property
	 * {@code distributed-lock.wait-time}, or one attempt where {@link #onBusy()} skips.
	 * @return the wait time
	 */
	String waitTime() default "";

	/**
	 * Ends the renewal after this long; the lease then runs out. Not below the ttl, and
	 * not with {@code renew = false}, where the ttl is the limit. Empty: the property
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
	 * What happens when the lock is busy.
	 * @return what to do
	 */
	OnBusy onBusy() default OnBusy.THROW;

	/**
	 * What happens when the lock is lost while the method runs.
	 * @return what to do
	 */
	OnLost onLost() default OnLost.THROW;

}
