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

	/** The number of the present check; results of earlier checks are ignored. */
	private long check;

	private boolean open = true;

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

	/** Confirms the inbox when the server replies, after the connection has changed. */
	void confirm() {
		long number;
		synchronized (this) {
			if (!this.open) {
				return;
			}
			this.confirmed = false;
			number = ++this.check;
		}
		// outside the monitor, since the reply may arrive immediately
		ask(number);
	}

	private void ask(long number) {
		this.server.ping().whenComplete((ignored, ex) -> {
			if (ex == null) {
				confirm(number);
			}
			else if (isCurrent(number) && !this.timer.isShutdown()) {
				this.timer.schedule(() -> ask(number), PAUSE_MILLIS, TimeUnit.MILLISECONDS);
			}
		});
	}

	private synchronized boolean isCurrent(long number) {
		return this.open && this.check == number;
	}

	private void confirm(long number) {
		synchronized (this) {
			if (!isCurrent(number) || this.confirmed) {
				return;
			}
			this.confirmed = true;
		}
		deliver(InboxListener::opened);
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
