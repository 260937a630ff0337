package io.github.lockspring.autoconfigure;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;

/**
 * Auto-configuration of the {@link io.github.lockspring.LockListener} that makes
 * application events of lock events.
 */
@AutoConfiguration
public final class LockEventAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	LockEventPublisher lockspringLockEventPublisher(ApplicationEventPublisher publisher) {
		return new LockEventPublisher(publisher);
	}

}
