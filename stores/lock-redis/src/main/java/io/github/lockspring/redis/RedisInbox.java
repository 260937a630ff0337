package io.github.lockspring.redis;

import java.util.Set;
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

	private final Set<RedisInbox> open;

	private final AtomicReference<@Nullable InboxSubscription> subscription = new AtomicReference<>();

	/**
	 * Creates a closed inbox.
	 * @param source creates a subscription that has not begun
	 * @param open contains this inbox while it is open
	 */
	RedisInbox(Supplier<InboxSubscription> source, Set<RedisInbox> open) {
		this.source = source;
		this.open = open;
	}

	@Override
	public void open() {
		if (this.subscription.get() == null) {
			InboxSubscription created = this.source.get();
			if (this.subscription.compareAndSet(null, created)) {
				this.open.add(this);
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
	public void close() {
		InboxSubscription subscription = this.subscription.getAndSet(null);
		if (subscription != null) {
			this.open.remove(this);
			subscription.end();
		}
	}

}
