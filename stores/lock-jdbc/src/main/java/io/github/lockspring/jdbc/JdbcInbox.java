package io.github.lockspring.jdbc;

import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
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
 * The messages for one instance. Can be opened and closed repeatedly. Thread-safe.
 */
/*
 * For maintainers: each opening has a thread, which looks for the transport of the
 * database and lets it receive messages until the inbox is closed. `doubts` counts the
 * reasons to doubt that messages arrive: the opening, probes, failures of the transport,
 * its beginning to listen. A confirmation belongs to one of them. However many there are,
 * one message that confirms is under way at most; the next one is about the last of them.
 */
final class JdbcInbox implements Inbox {

	private static final Logger logger = LoggerFactory.getLogger(JdbcInbox.class);

	private static final long MIN_PAUSE_MILLIS = 50;

	private static final long MAX_PAUSE_MILLIS = 10_000;

	private static final AtomicLong OPENINGS = new AtomicLong();

	/** The inboxes of the store that are open, by instance. */
	private final Map<String, JdbcInbox> open;

	private final String instance;

	private final InboxListener listener;

	private final Supplier<Transport> transports;

	private final long idleNanos;

	private final Object delivery = new Object();

	/** The tokens in the queue that messages should reach, with the keys of users. */
	private final Map<OwnerToken, String> waiting = new ConcurrentHashMap<>();

	private volatile @Nullable Opening present;

	/** When a caller has waited, or a message has arrived, last. */
	private volatile long neededAt;

	/**
	 * Creates an inbox that is closed.
	 * @param open the inboxes that are open, by instance, for this one to be among while
	 * it is
	 * @param idle how long an inbox stays open that nobody needs
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
			// no thread at present; waiters poll, and open the inbox again
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
		return opening != null && opening.isConfirmed();
	}

	@Override
	public void probe() {
		Opening opening = this.present;
		if (opening != null) {
			opening.doubt();
			opening.transport().probe(opening);
		}
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

	/** A token waits for messages. */
	void waits(String key, OwnerToken token) {
		Opening opening = this.present;
		if (opening != null) {
			this.waiting.put(token, key);
			opening.needed();
		}
	}

	/** A token waits for messages no more. */
	void forget(OwnerToken token) {
		this.waiting.remove(token);
	}

	/**
	 * A token owns the lock. Where the owner is not told when others wait, it has to
	 * assume that they do.
	 */
	void acquired(String key, OwnerToken token) {
		Opening opening = this.present;
		if (opening != null && !opening.transport().tellsOwners()) {
			opening.deliver((to) -> to.wanted(key, token));
		}
	}

	/**
	 * Receives messages by the means of a database.
	 */
	@FunctionalInterface
	interface Transport {

		/** Before it is known: receives nothing. */
		Transport NONE = (opening) -> {
		};

		/**
		 * Receives messages until the opening is over, or messages cannot be received any
		 * more.
		 */
		void receive(Opening opening) throws SQLException, InterruptedException;

		/**
		 * Confirms the opening soon if messages arrive, unless receiving them does so
		 * anyway. Does not block.
		 */
		default void probe(Opening opening) {
		}

		/** Whether an owner is told that others wait for its lock. */
		default boolean tellsOwners() {
			return true;
		}

	}

	/**
	 * The inbox between an opening and the next closing.
	 */
	final class Opening implements Runnable {

		/* No message of another opening confirms this one. */
		private long doubts = OPENINGS.addAndGet(1L << 32);

		private long confirmed = -1;

		private long doubtedAt = System.nanoTime();

		/** What the probe under way is for; 0 if there is none. */
		private long probed;

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
					logger.debug("Messages do not arrive", ex);
				}
				catch (InterruptedException ex) {
					logger.debug("Interrupted", ex);
				}
				catch (RuntimeException | Error ex) {
					logger.warn("The messages of locks cannot be received, and waiting instances poll meanwhile", ex);
				}
				doubt();
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

		synchronized boolean isConfirmed() {
			return this.confirmed == this.doubts;
		}

		/** Returns for how many nanoseconds a doubt has not been answered; 0 if none. */
		synchronized long doubtfulFor() {
			return (this.confirmed == this.doubts) ? 0 : System.nanoTime() - this.doubtedAt;
		}

		/** Returns the number of the last doubt, which is positive. */
		synchronized long doubts() {
			return this.doubts;
		}

		/** Messages can arrive from now on; those of earlier doubts could not. */
		synchronized void listens() {
			this.doubts++;
			this.doubtedAt = System.nanoTime();
		}

		/**
		 * Begins a probe.
		 * @return the doubt that it is for; 0 while another probe is under way
		 */
		synchronized long beginProbe() {
			if (this.probed != 0) {
				return 0;
			}
			this.probed = this.doubts;
			return this.probed;
		}

		/**
		 * A probe was sent, or could not be.
		 * @return whether there is another doubt since
		 */
		synchronized boolean endProbe() {
			boolean again = isOpen() && this.probed != this.doubts;
			this.probed = 0;
			return again;
		}

		synchronized void doubt() {
			if (this.confirmed == this.doubts) {
				this.doubtedAt = System.nanoTime();
			}
			this.doubts++;
			notifyAll();
		}

		/**
		 * Messages have arrived, since the given doubt.
		 */
		void confirm(long doubt) {
			synchronized (this) {
				if (doubt != this.doubts || this.confirmed == doubt) {
					return;
				}
				this.confirmed = doubt;
				this.pause = MIN_PAUSE_MILLIS;
			}
			deliver(InboxListener::opened);
		}

		synchronized void wake() {
			notifyAll();
		}

		/** Blocks until a token waits, there is a doubt, or the inbox is closed. */
		synchronized void awaitWork() throws InterruptedException {
			while (isOpen() && JdbcInbox.this.waiting.isEmpty() && this.confirmed == this.doubts) {
				wait();
			}
		}

		/** The tokens that wait for a message, and the keys of users. */
		Map<OwnerToken, String> waiting() {
			return JdbcInbox.this.waiting;
		}

		/** A caller waits, or a message has arrived. */
		void needed() {
			JdbcInbox.this.neededAt = System.nanoTime();
			wake();
		}

		/** Ends an opening that nobody has needed for a while. */
		void closeIfIdle() {
			JdbcInbox.this.closeIfIdle(this);
		}

		/** One message at a time, as the listener may expect. */
		void deliver(Consumer<InboxListener> message) {
			synchronized (JdbcInbox.this.delivery) {
				if (isOpen()) {
					message.accept(JdbcInbox.this.listener);
				}
			}
		}

	}

}
