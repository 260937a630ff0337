package io.github.lockspring.autoconfigure;

import io.github.lockspring.fencing.FencingGuard;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.memory.MemoryLockStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;

/**
 * Auto-configuration of an application whose locks are switched off. Annotated methods
 * run without a lock, and unfenced. Programs still get a
 * {@link io.github.lockspring.LockTemplate} and a {@link FencingGuard}, since they could
 * not be started without; the locks exclude only this process, and the guard lets
 * everybody pass.
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
