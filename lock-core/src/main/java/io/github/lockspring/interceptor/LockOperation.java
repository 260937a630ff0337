package io.github.lockspring.interceptor;

import java.lang.reflect.Method;
import java.time.Duration;

import io.github.lockspring.OnBusy;
import io.github.lockspring.OnLost;
import org.jspecify.annotations.Nullable;

/**
 * One {@code @DistributedLock} as it applies to one method: placeholders resolved,
 * durations parsed and within their ranges.
 *
 * @param type the user's class that stands for the method in messages and in its default
 * key: the bean's class, never a generated one
 * @param method the method that runs under the lock
 * @param declared the method whose parameter names the expressions use; it differs from
 * {@code method} where the annotation stands on an interface or on an overridden method
 * @param key the key expression, empty for the method itself
 * @param name put before the key, empty for nothing
 * @param ttl length of the lease, null for the application's property
 * @param renew whether the lease is kept alive; always true without a ttl
 * @param waitTime longest wait, null for the application's property
 * @param maxHold end of the renewal, null for the application's property
 * @param minHold shortest hold, zero for none
 * @param onBusy what happens when the lock is busy
 * @param condition the condition expression, empty for none
 * @param fallback the name of the fallback method, empty for none
 * @param onLost what happens when the lock is lost
 */
public record LockOperation(Class<?> type, Method method, Method declared, String key, String name,
		@Nullable Duration ttl, boolean renew, @Nullable Duration waitTime, @Nullable Duration maxHold,
		Duration minHold, OnBusy onBusy, String condition, String fallback, OnLost onLost) {

	/**
	 * What the lock is called in messages and metrics.
	 * @return the annotation's name, or the simple name of the class and the method
	 */
	public String label() {
		return (!this.name.isEmpty()) ? this.name : this.type.getSimpleName() + '.' + this.method.getName();
	}

	LockSite site() {
		return new LockSite(this.type, this.method);
	}

}
