package io.github.lockspring.autoconfigure;

import io.github.lockspring.autoconfigure.internal.ConditionalOnFlag;
import io.github.lockspring.FencingGuard;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.memory.MemoryLockStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;

/**
 * Auto-configuration for {@code distributed-lock.enabled=false}. Annotated methods run
 * without a lock and without fencing. Beans that need a
 * {@link io.github.lockspring.LockTemplate} or a {@link FencingGuard} still get one: its
 * locks exclude only callers in this process, and the guard accepts each token.
 *
 * @since 0.1
 */
@AutoConfiguration
@ConditionalOnFlag(name = "distributed-lock.enabled", byDefault = true, havingValue = false)
public final class LocksDisabledAutoConfiguration {

	private static final Logger logger = LoggerFactory.getLogger(LocksDisabledAutoConfiguration.class);

	LocksDisabledAutoConfiguration() {
		logger.warn("Locks are switched off (distributed-lock.enabled=false): methods with @DistributedLock run without"
				+ " their lock, and the locks of a LockTemplate exclude only this process");
	}

	@Bean
	@Lazy
	@ConditionalOnMissingBean(LockStore.class)
	MemoryLockStore lockspringMemoryLockStore() {
		return new MemoryLockStore();
	}

	@Bean
	@ConditionalOnMissingBean
	FencingGuard lockspringFencingGuard() {
		return (resource, token) -> {
		};
	}

}
