package io.github.lockspring.store.memory;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.github.lockspring.internal.base.DaemonThreadFactory;
import io.github.lockspring.store.Inbox;
import io.github.lockspring.store.InboxListener;
import io.github.lockspring.store.OwnerToken;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The inboxes of the instances that share one {@link MemoryLockStore}.
 */
/*
 * For maintainers: one thread delivers all messages in order. It starts with the first
 * message and ends when it has been idle for a moment. The map contains the open inboxes.
 * The thread reads it again before each delivery, since the inbox may have been closed in
 * the meantime.
 */
final class MemoryInboxes {

	private static final Logger logger = LoggerFactory.getLogger(MemoryInboxes.class);

	private static final long IDLE_MILLIS = 200;

	private final Map<String, MemoryInbox> open = new ConcurrentHashMap<>();

	private final ThreadPoolExecutor dispatcher = new ThreadPoolExecutor(1, 1, IDLE_MILLIS, TimeUnit.MILLISECONDS,
			new LinkedBlockingQueue<>(), new DaemonThreadFactory("lock-memory-messages"));

	MemoryInboxes() {
		this.dispatcher.allowCoreThreadTimeOut(true);
	}

	Inbox create(String instance, InboxListener listener) {
		return new MemoryInbox(instance, listener);
	}

	boolean isOpen(String instance) {
		return this.open.containsKey(instance);
	}

	void granted(String key, OwnerToken token, long fencingToken, boolean othersWait) {
		deliver(token.instance(), (listener) -> listener.granted(key, token, fencingToken, othersWait));
	}

	void wanted(String key, OwnerToken token) {
		deliver(token.instance(), (listener) -> listener.wanted(key, token));
	}

	private void deliver(String instance, Consumer<InboxListener> message) {
		if (isOpen(instance)) {
			this.dispatcher.execute(() -> {
				MemoryInbox inbox = this.open.get(instance);
				if (inbox != null) {
					inbox.deliver(message);
				}
			});
		}
	}

	private final class MemoryInbox implements Inbox {

		private final String instance;

		private final InboxListener listener;

		MemoryInbox(String instance, InboxListener listener) {
			this.instance = instance;
			this.listener = listener;
		}

		@Override
		public void open() {
			if (MemoryInboxes.this.open.putIfAbsent(this.instance, this) == null) {
				MemoryInboxes.this.dispatcher.execute(() -> {
					if (isConfirmed()) {
						deliver(InboxListener::opened);
					}
				});
			}
		}

		@Override
		public boolean isConfirmed() {
			return MemoryInboxes.this.open.get(this.instance) == this;
		}

		@Override
		public void close() {
			MemoryInboxes.this.open.remove(this.instance, this);
		}

		void deliver(Consumer<InboxListener> message) {
			try {
				message.accept(this.listener);
			}
			catch (RuntimeException ex) {
				logger.warn("The listener of an inbox failed", ex);
			}
		}

	}

}
