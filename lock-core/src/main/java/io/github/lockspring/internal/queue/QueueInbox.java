package io.github.lockspring.internal.queue;

import java.util.Map;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.github.lockspring.store.Inbox;
import io.github.lockspring.store.InboxListener;

/**
 * The inbox of one instance. Its messages come from the watches of its own entries and
 * arrive as long as the server replies. So it is open from the beginning, and a first
 * attempt may already join the queue. Thread-safe.
 */
final class QueueInbox implements Inbox {

	private static final long PAUSE_MILLIS = 250;

	private final EntryServer server;

	private final InboxListener listener;

	private final ScheduledExecutorService timer;

	private final String instance;

	private final Map<String, QueueInbox> inboxes;

	private final Object delivery = new Object();

	/** How often the connection has changed; replies from before do not count. */
	private long check;

	private boolean open = true;

	/** Whether a reply is awaited, or will be asked for after a pause. */
	private boolean asking;

	private boolean confirmed = true;

	/**
	 * Creates an open inbox, which is not registered yet.
	 * @param inboxes those that are open, by their instances
	 */
	QueueInbox(EntryServer server, InboxListener listener, ScheduledExecutorService timer, String instance,
			Map<String, QueueInbox> inboxes) {
		this.server = server;
		this.listener = listener;
		this.timer = timer;
		this.instance = instance;
		this.inboxes = inboxes;
	}

	@Override
	public void open() {
		synchronized (this) {
			if (this.open) {
				return;
			}
			this.open = true;
			this.inboxes.put(this.instance, this);
		}
		confirm();
	}

	@Override
	public synchronized boolean isConfirmed() {
		return this.open && this.confirmed;
	}

	/**
	 * Confirms the inbox when the server replies, after the connection has changed. It is
	 * asked once at a time, however often that happens.
	 */
	void confirm() {
		synchronized (this) {
			this.confirmed = false;
			this.check++;
			if (!this.open || this.asking) {
				return;
			}
			this.asking = true;
		}
		// outside the monitor, since the reply may arrive immediately
		ask();
	}

	private void ask() {
		long number = present();
		this.server.ping().whenComplete((ignored, ex) -> {
			if (ex == null && accept(number)) {
				deliver((to) -> {
					to.reconnected();
					to.opened();
				});
			}
			else if (mustAskAgain()) {
				this.timer.schedule(this::ask, PAUSE_MILLIS, TimeUnit.MILLISECONDS);
			}
		});
	}

	private synchronized long present() {
		return this.check;
	}

	/**
	 * Accepts a reply, unless it is to an earlier check: that says nothing about the
	 * present connection.
	 */
	private synchronized boolean accept(long number) {
		if (!this.open || this.check != number) {
			return false;
		}
		this.asking = false;
		this.confirmed = true;
		return true;
	}

	private synchronized boolean mustAskAgain() {
		this.asking = this.open && !this.timer.isShutdown();
		return this.asking;
	}

	/** Delivers one message at a time, as listeners expect. */
	void deliver(Consumer<InboxListener> message) {
		synchronized (this.delivery) {
			if (isOpen()) {
				message.accept(this.listener);
			}
		}
	}

	@Override
	public synchronized boolean isOpen() {
		return this.open;
	}

	@Override
	public synchronized void close() {
		this.open = false;
		this.confirmed = false;
		this.check++;
		this.inboxes.remove(this.instance, this);
	}

}
