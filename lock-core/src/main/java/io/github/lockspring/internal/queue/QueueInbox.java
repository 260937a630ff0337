package io.github.lockspring.internal.queue;

import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.github.lockspring.store.Inbox;
import io.github.lockspring.store.InboxListener;

/**
 * The messages for one instance. They come from the watches of its own entries, so they
 * arrive as long as the server replies, and the inbox needs nothing to be open: it is
 * from the beginning, so a first attempt may already join the queue. Thread-safe.
 */
final class QueueInbox implements Inbox {

	private static final long PAUSE_MILLIS = 250;

	private final EntryServer server;

	private final InboxListener listener;

	private final ScheduledExecutorService timer;

	private final Object delivery = new Object();

	/** Counts the openings and doubts; an answer counts for the present one only. */
	private long doubt;

	private boolean open = true;

	private boolean confirmed = true;

	QueueInbox(EntryServer server, InboxListener listener, ScheduledExecutorService timer) {
		this.server = server;
		this.listener = listener;
		this.timer = timer;
	}

	@Override
	public void open() {
		synchronized (this) {
			if (this.open) {
				return;
			}
			this.open = true;
		}
		probe();
	}

	@Override
	public synchronized boolean isConfirmed() {
		return this.open && this.confirmed;
	}

	@Override
	public void probe() {
		long asked;
		synchronized (this) {
			if (!this.open) {
				return;
			}
			this.confirmed = false;
			asked = ++this.doubt;
		}
		// without the monitor, since the answer may be there at once
		ask(asked);
	}

	private void ask(long asked) {
		this.server.ping().whenComplete((ignored, ex) -> {
			if (ex == null) {
				confirm(asked);
			}
			else if (isDoubt(asked) && !this.timer.isShutdown()) {
				this.timer.schedule(() -> ask(asked), PAUSE_MILLIS, TimeUnit.MILLISECONDS);
			}
		});
	}

	private synchronized boolean isDoubt(long asked) {
		return this.open && this.doubt == asked;
	}

	private void confirm(long asked) {
		synchronized (this) {
			if (!isDoubt(asked) || this.confirmed) {
				return;
			}
			this.confirmed = true;
		}
		deliver(InboxListener::opened);
	}

	/** One message at a time, as the listener may expect. */
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
		this.doubt++;
	}

}
