package io.github.lockspring.autoconfigure;

import io.github.lockspring.LockListener;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;

/**
 * Auto-configuration of the {@link LockListener} that publishes lock events as
 * application events.
 *
 * @since 0.1
 */
@AutoConfiguration
public final class LockEventAutoConfiguration {

	@Bean
	LockListener lockspringLockListener(ApplicationEventPublisher publisher) {
		return publisher::publishEvent;
	}

}
