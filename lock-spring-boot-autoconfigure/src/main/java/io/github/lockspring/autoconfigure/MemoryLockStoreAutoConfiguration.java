package io.github.lockspring.autoconfigure;

import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.memory.MemoryLockStore;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;

/**
 * Auto-configuration of the {@link LockStore} in memory.
 *
 * @since 0.1
 */
@AutoConfiguration
@ConditionalOnLockStore(DistributedLockProperties.Store.MEMORY)
public final class MemoryLockStoreAutoConfiguration {

	@Bean
	@Lazy
	@ConditionalOnMissingBean(LockStore.class)
	MemoryLockStore lockspringMemoryLockStore() {
		return new MemoryLockStore();
	}

}
