package io.github.lockspring.autoconfigure;

import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.MemoryLockStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;

/**
 * Auto-configuration of an application whose locks are switched off. Annotated methods
 * run without a lock. Programs still get a {@link io.github.lockspring.LockTemplate},
 * since they could not be started without; its locks exclude only this process.
 */
@AutoConfiguration
@ConditionalOnBooleanProperty(name = "distributed-lock.enabled", havingValue = false)
public final class LocksDisabledAutoConfiguration {

	private static final Logger logger = LoggerFactory.getLogger(LocksDisabledAutoConfiguration.class);

	LocksDisabledAutoConfiguration() {
		logger.warn("Locks are switched off (distributed-lock.enabled=false): methods with @DistributedLock run without"
				+ " their lock, and the locks of a LockTemplate exclude only this process");
	}

	@Bean
	@Lazy
	@ConditionalOnMissingBean(LockStore.class)
	MemoryLockStore memoryLockStore() {
		return new MemoryLockStore();
	}

}
