package io.github.lockspring.autoconfigure;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import io.github.lockspring.autoconfigure.internal.ConditionalOnLocksEnabled;

import org.springframework.context.annotation.Conditional;

/**
 * Matches if {@code distributed-lock.store} names this store or, without the property, if
 * this is the only store on the class path, unless locks are switched off.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@ConditionalOnLocksEnabled
@Conditional(OnLockStoreCondition.class)
@interface ConditionalOnLockStore {

	/**
	 * Returns the store.
	 */
	DistributedLockProperties.Store value();

}
