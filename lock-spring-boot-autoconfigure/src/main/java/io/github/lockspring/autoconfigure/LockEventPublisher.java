package io.github.lockspring.autoconfigure;

import io.github.lockspring.LockEvent;
import io.github.lockspring.LockListener;

import org.springframework.context.ApplicationEventPublisher;

/**
 * Publishes what happens to locks as application events.
 */
class LockEventPublisher implements LockListener {

	private final ApplicationEventPublisher publisher;

	LockEventPublisher(ApplicationEventPublisher publisher) {
		this.publisher = publisher;
	}

	@Override
	public void onLockEvent(LockEvent event) {
		this.publisher.publishEvent(event);
	}

}
