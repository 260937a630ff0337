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
 * are never merged. Each call acquires one lock. If the lock has several keys, it
 * acquires all of them or none, in one global order. Inside the method,
 * {@code HeldLock.current()} returns the lock and its fencing token.
 * <p>
 * On a class or an interface, it applies to the public methods. An annotated method may
 * be public or, with a class proxy, protected or package-private. The application does
 * not start if a proxy cannot intercept an annotated method: a private, static or final
 * method, a package-private method of another package, or a method of a record, an enum,
 * or a final or sealed class.
 * <p>
 * As with {@code @Transactional}, only calls from outside the object go through the
 * proxy. A method that calls another method of its own object ({@code this.ship(order)})
 * runs it <em>without</em> the lock. The same applies to objects created with
 * {@code new}, and to {@code @PostConstruct} and {@code @PreDestroy} methods called by
 * the container. If the bean's code shows such a call, a warning is logged at startup.
 * Move the annotated method to another bean, or use {@link LockTemplate}.
 * <p>
 * Every String attribute may contain <code>${…}</code> placeholders. Durations are
 * written with a unit ({@code 500ms}, {@code 30s}, {@code 5m}, {@code 1h}, {@code 1d}) or
 * in ISO form ({@code PT30S}). An invalid annotation stops the application at startup,
 * unless the error can only be detected during a call.
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
	 * Put text in quotes and join it with values by {@code +}, as in
	 * {@code 'order:' + #order.id}. A collection or an array locks all its elements;
	 * <code>{'order:' + #order.id, 'customer:' + #order.customer}</code> locks an order
	 * and a customer. If empty, the method itself is the key.
	 * <p>
	 * A value that is not a String is represented by its {@code toString()}, which must
	 * be the same in all instances. A call is rejected if the text is or contains an
	 * object's identity ({@code Customer@3fee}), or if the value is a {@code Date} or a
	 * {@code Calendar}. A date, or a set or map without an order, inside another object
	 * is not detected. Use an identifier.
	 * <p>
	 * A call fails with an {@link IllegalArgumentException}, without running the method,
	 * if the key, one of its elements, or a value joined with text is null, empty or
	 * cannot be evaluated.
	 * @return the key
	 */
	String key() default "";

	/**
	 * Prefix of the key, as in {@code name:key}, and label in metrics.
	 * @return the name
	 */
	String name() default "";

	/**
	 * Length of the lease: how soon others can acquire the lock after its holder has
	 * crashed. Does not limit the work unless {@link #renew()} is false. At least 300
	 * milliseconds, or 100 without renewal. The default is the property
	 * {@code distributed-lock.ttl}.
	 * @return the ttl
	 */
	String ttl() default "";

	/**
	 * Whether the lease is renewed while the method runs. If not, it ends after the
	 * {@link #ttl()}, even if the method is still running.
	 * @return whether to renew
	 */
	boolean renew() default true;

	/**
	 * Longest wait; {@code 0s} for a single attempt. The default is the property
	 * {@code distributed-lock.wait-time}, or a single attempt with {@link OnBusy#SKIP}.
	 * @return the wait time
	 */
	String waitTime() default "";

	/**
	 * Longest time from the acquisition to the end of the lease, even if the method is
	 * still running: the lease is not renewed beyond it. Must not be shorter than
	 * {@link #ttl()}; if there is none and the default is longer, the lease is as long as
	 * this. Cannot be combined with {@code renew = false}, where the ttl is the limit.
	 * The default is the property {@code distributed-lock.max-hold}.
	 * @return the longest hold
	 */
	String maxHold() default "";

	/**
	 * Delays the release until this long after the acquisition. Useful for jobs that
	 * several instances schedule.
	 * @return the shortest hold
	 */
	String minHold() default "";

	/**
	 * The reaction to a busy lock.
	 * @return the reaction
	 */
	OnBusy onBusy() default OnBusy.THROW;

	/**
	 * The reaction to the loss of the lock while the method runs.
	 * @return the reaction
	 */
	OnLost onLost() default OnLost.THROW;

}
