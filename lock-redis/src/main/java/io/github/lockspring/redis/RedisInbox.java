package io.github.lockspring.redis;

import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;

import io.github.lockspring.redis.client.RedisCommands;
import io.github.lockspring.redis.client.RedisConnections;
import io.github.lockspring.store.Inbox;
import io.github.lockspring.store.InboxListener;
import org.jspecify.annotations.Nullable;

/**
 * One channel for all messages to one instance. Can be opened and closed repeatedly.
 */
final class RedisInbox implements Inbox {

	private final RedisConnections connections;

	private final RedisCommands commands;

	private final Duration commandTimeout;

	private final String channel;

	private final InboxMessages messages;

	private final ReentrantLock lock = new ReentrantLock();

	private volatile @Nullable InboxSubscription subscription;

	RedisInbox(RedisConnections connections, RedisCommands commands, Duration commandTimeout, RedisKeys keys,
			String instance, InboxListener listener, boolean grantsAreHints) {
		this.connections = connections;
		this.commands = commands;
		this.commandTimeout = commandTimeout;
		this.channel = keys.inbox(instance);
		this.messages = new InboxMessages(keys, instance, listener, grantsAreHints);
	}

	@Override
	public void open() {
		this.lock.lock();
		try {
			if (this.subscription == null) {
				InboxSubscription subscription = new InboxSubscription(this.connections, this.commands,
						this.commandTimeout, this.channel, this.messages);
				this.subscription = subscription;
				subscription.begin();
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	@Override
	public boolean isConfirmed() {
		InboxSubscription subscription = this.subscription;
		return subscription != null && subscription.isConfirmed();
	}

	@Override
	public void probe() {
		InboxSubscription subscription = this.subscription;
		if (subscription != null) {
			subscription.probe();
		}
	}

	@Override
	public void close() {
		InboxSubscription subscription;
		this.lock.lock();
		try {
			subscription = this.subscription;
			this.subscription = null;
		}
		finally {
			this.lock.unlock();
		}
		if (subscription != null) {
			subscription.end();
		}
	}

}
