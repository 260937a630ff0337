package io.github.lockspring.jdbc;

import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.base.DaemonThreadFactory;
import io.github.lockspring.store.Inbox;
import io.github.lockspring.store.InboxListener;
import io.github.lockspring.store.OwnerToken;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The inbox of one instance. Can be opened and closed repeatedly. Thread-safe.
 */
/*
 * For maintainers: each opening has a thread. It selects the transport for the database
 * and receives messages until the inbox is closed, starting again after each failure.
 * Only this thread sets and clears the confirmation.
 */
final class JdbcInbox implements Inbox {

	private static final Logger logger = LoggerFactory.getLogger(JdbcInbox.class);

	private static final long MIN_PAUSE_MILLIS = 50;

	private static final long MAX_PAUSE_MILLIS = 10_000;

	/** The open inboxes of the store, by instance. */
	private final Map<String, JdbcInbox> open;

	private final String instance;

	private final InboxListener listener;

	private final Supplier<Transport> transports;

	private final long idleNanos;

	private final Object delivery = new Object();

	/** The queued tokens that expect messages, with the users' keys. */
	private final Map<OwnerToken, String> waiting = new ConcurrentHashMap<>();

	private volatile @Nullable Opening present;

	/** The last time at which a caller began to wait or a message arrived. */
	private volatile long neededAt;

	/**
	 * Creates a closed inbox.
	 * @param open the open inboxes, by instance; contains this one while it is open
	 * @param idle how long an idle inbox stays open
	 */
	JdbcInbox(Map<String, JdbcInbox> open, String instance, InboxListener listener, Supplier<Transport> transports,
			Duration idle) {
		this.open = open;
		this.instance = instance;
		this.listener = listener;
		this.transports = transports;
		this.idleNanos = idle.toNanos();
	}

	@Override
	public synchronized void open() {
		this.neededAt = System.nanoTime();
		if (this.present != null) {
			return;
		}
		Opening opening = new Opening();
		this.present = opening;
		this.open.put(this.instance, this);
		try {
			new DaemonThreadFactory("lock-jdbc-inbox").newThread(opening).start();
		}
		catch (Error ex) {
			// no thread available now; waiters poll, and will open the inbox again
			logger.debug("The inbox was not opened", ex);
			close();
		}
	}

	@Override
	public boolean isOpen() {
		return this.present != null;
	}

	@Override
	public boolean isConfirmed() {
		Opening opening = this.present;
		return opening != null && opening.confirmed;
	}

	@Override
	public synchronized void close() {
		Opening opening = this.present;
		this.present = null;
		this.open.remove(this.instance, this);
		this.waiting.clear();
		if (opening != null) {
			opening.wake();
		}
	}

	private synchronized void closeIfIdle(Opening opening) {
		if (this.present == opening && this.waiting.isEmpty() && System.nanoTime() - this.neededAt > this.idleNanos) {
			close();
		}
	}

	/** Adds a token that waits for messages. */
	void add(String key, OwnerToken token) {
		Opening opening = this.present;
		if (opening != null) {
			this.waiting.put(token, key);
			opening.needed();
		}
	}

	/** Removes a token that waits no longer. */
	void remove(OwnerToken token) {
		this.waiting.remove(token);
	}

	/**
	 * Reports that a token owns the lock. If the transport does not notify owners of
	 * waiters, the owner has to assume that there are some.
	 */
	void acquired(String key, OwnerToken token) {
		Opening opening = this.present;
		if (opening != null && !opening.transport().notifiesOwners()) {
			opening.deliver((to) -> to.wanted(key, token));
		}
	}

	/**
	 * Receives messages through a database.
	 */
	@FunctionalInterface
	interface Transport {

		/** Receives nothing: used until the transport is selected. */
		Transport NONE = (opening) -> {
		};

		/**
		 * Receives messages until the inbox is closed or receiving fails.
		 */
		void receive(Opening opening) throws SQLException, InterruptedException;

		/** Returns whether owners are notified of waiters. */
		default boolean notifiesOwners() {
			return true;
		}

	}

	/**
	 * The inbox between being opened and being closed.
	 */
	final class Opening implements Runnable {

		private volatile boolean confirmed;

		private volatile Transport transport = Transport.NONE;

		private long pause = MIN_PAUSE_MILLIS;

		@Override
		public void run() {
			while (isOpen()) {
				try {
					this.transport = JdbcInbox.this.transports.get();
					this.transport.receive(this);
				}
				catch (SQLException | LockUnavailableException ex) {
					logger.debug("Cannot receive messages", ex);
				}
				catch (InterruptedException ex) {
					logger.debug("Interrupted", ex);
				}
				catch (RuntimeException | Error ex) {
					logger.warn("Cannot receive the messages of locks; waiting instances poll instead", ex);
				}
				this.confirmed = false;
				pauseAfterFailure();
				closeIfIdle();
			}
		}

		private synchronized void pauseAfterFailure() {
			long millis = this.pause + ThreadLocalRandom.current().nextLong(this.pause);
			this.pause = Math.min(2 * this.pause, MAX_PAUSE_MILLIS);
			long end = System.nanoTime() + millis * 1_000_000;
			while (isOpen() && end - System.nanoTime() > 0) {
				try {
					wait(1 + (end - System.nanoTime()) / 1_000_000);
				}
				catch (InterruptedException ex) {
					return;
				}
			}
		}

		boolean isOpen() {
			return JdbcInbox.this.present == this;
		}

		Transport transport() {
			return this.transport;
		}

		boolean isConfirmed() {
			return this.confirmed;
		}

		/** Records that messages arrive. */
		void confirm() {
			if (!this.confirmed) {
				this.confirmed = true;
				this.pause = MIN_PAUSE_MILLIS;
				deliver(InboxListener::opened);
			}
		}

		synchronized void wake() {
			notifyAll();
		}

		/** Blocks until a token waits, or the inbox is closed. */
		synchronized void awaitWork() throws InterruptedException {
			while (isOpen() && JdbcInbox.this.waiting.isEmpty()) {
				wait();
			}
		}

		/** Returns the tokens that wait for a message, with the users' keys. */
		Map<OwnerToken, String> waiting() {
			return JdbcInbox.this.waiting;
		}

		/** Records that a caller waits or a message has arrived. */
		void needed() {
			JdbcInbox.this.neededAt = System.nanoTime();
			wake();
		}

		/** Closes the inbox if it has been idle for a while. */
		void closeIfIdle() {
			JdbcInbox.this.closeIfIdle(this);
		}

		/** Delivers one message at a time, as listeners expect. */
		void deliver(Consumer<InboxListener> message) {
			synchronized (JdbcInbox.this.delivery) {
				if (isOpen()) {
					message.accept(JdbcInbox.this.listener);
				}
			}
		}

	}

}
