package io.github.lockspring.redis;

import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import io.github.lockspring.store.Inbox;
import org.jspecify.annotations.Nullable;

/**
 * One channel for all messages to one instance. Can be opened and closed repeatedly.
 * Thread-safe.
 */
final class RedisInbox implements Inbox {

	private final Supplier<InboxSubscription> source;

	private final AtomicReference<@Nullable InboxSubscription> subscription = new AtomicReference<>();

	/**
	 * Creates a closed inbox.
	 * @param source creates a subscription that has not begun
	 */
	RedisInbox(Supplier<InboxSubscription> source) {
		this.source = source;
	}

	@Override
	public void open() {
		if (this.subscription.get() == null) {
			InboxSubscription created = this.source.get();
			if (this.subscription.compareAndSet(null, created)) {
				created.begin();
			}
		}
	}

	@Override
	public boolean isConfirmed() {
		InboxSubscription subscription = this.subscription.get();
		return subscription != null && subscription.isConfirmed();
	}

	@Override
	public void probe() {
		InboxSubscription subscription = this.subscription.get();
		if (subscription != null) {
			subscription.probe();
		}
	}

	@Override
	public void close() {
		InboxSubscription subscription = this.subscription.getAndSet(null);
		if (subscription != null) {
			subscription.end();
		}
	}

}
