package io.github.lockspring.testsupport.history;

import java.io.Closeable;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

import io.github.lockspring.HeldLock;

/**
 * Records the holds of a worker, one line for each event, in a file that survives a
 * SIGKILL of the worker. Thread-safe.
 *
 * @since 0.1
 */
/*
 * For maintainers: the log contains claims: "at this time I was sure to have the lock
 * until then", where "then" is a reading of the clock plus the result of a later
 * remaining(). Any time may pass between reading the clock, asking, and writing, since
 * the process may be stopped in between. This only makes the claim smaller than
 * necessary, since remaining() counts from a later moment than the reading to which it is
 * added. A claim remains valid when the holder is stopped or killed: according to the
 * granted lease, no other owner may have the lock before that time. So claims cover more
 * than the times at which isHeld() was called, but never too much.
 *
 * A claim ends early in two ways, both written before they happen: the holder closes (E),
 * or leaves a re-entry that may have extended the hold (R). After a loss of all data a
 * claim is wrong, which the checker takes into account.
 *
 * A plain stream, since a channel is closed by the interrupt of a thread that uses it.
 */
public final class EventLog implements Closeable {

	/** A claim that grows by less is not worth a line. */
	private static final long RESOLUTION = 100_000;

	private final FileOutputStream out;

	private final AtomicLong numbers = new AtomicLong();

	/**
	 * Opens a log.
	 * @param file is created if it does not exist
	 */
	public EventLog(Path file) throws IOException {
		this.out = new FileOutputStream(file.toFile(), true);
	}

	/** Counts an event. */
	public void count(String what) {
		write("C " + what);
	}

	/** Records a fault that the worker itself has detected. */
	public void fault(String what) {
		write("F " + what);
	}

	/**
	 * Records that the store granted a lock to this process.
	 * @param key the key
	 * @param token the fencing token
	 * @param asked read before the store was asked
	 * @param lease the length of the lease
	 */
	public void acquired(String key, long token, long asked, Duration lease) {
		write("A " + key + ' ' + token + ' ' + asked + ' ' + System.nanoTime() + ' ' + lease.toNanos());
	}

	/**
	 * Records that the process did not run although it wanted to.
	 * @param from when it should have run
	 * @param to when it did
	 */
	public void delayed(long from, long to) {
		write("D " + from + ' ' + to);
	}

	/**
	 * Records that a holder got a lock.
	 * @param lock one lock of one key
	 * @param asked read before it was asked for
	 * @param lease the length of the lease
	 */
	public Holding begin(HeldLock lock, long asked, Duration lease) {
		return new Holding(lock, asked, lease);
	}

	private void write(String line) {
		byte[] bytes = (line + '\n').getBytes(StandardCharsets.UTF_8);
		synchronized (this.out) {
			try {
				this.out.write(bytes);
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}
	}

	@Override
	public void close() throws IOException {
		this.out.close();
	}

	/**
	 * One hold while it lasts. Used by one thread at a time.
	 */
	public final class Holding {

		private final long number = EventLog.this.numbers.incrementAndGet();

		private final HeldLock lock;

		private long until;

		private boolean over;

		private Holding(HeldLock lock, long asked, Duration lease) {
			this.lock = lock;
			long granted = System.nanoTime();
			boolean held = lock.isHeld();
			this.until = held ? granted + lock.remaining().toNanos() : granted - 1;
			this.over = !held;
			write("B " + this.number + ' ' + lock.keys().get(0) + ' ' + lock.fencingToken() + ' ' + asked + ' '
					+ granted + ' ' + lease.toNanos() + ' ' + this.until);
		}

		/** Returns the lock. */
		public HeldLock lock() {
			return this.lock;
		}

		/** Returns whether the holder knows that it has lost the lock. */
		public boolean isOver() {
			return this.over;
		}

		/** Records until when the lock is held, if it is. */
		public void look() {
			long at = System.nanoTime();
			if (!this.lock.isHeld()) {
				this.over = true;
				return;
			}
			if (this.over) {
				fault("Lock " + this.lock + " was over and is held again");
			}
			long until = at + this.lock.remaining().toNanos();
			if (until - this.until > RESOLUTION) {
				this.until = until;
				write("V " + this.number + ' ' + until);
			}
		}

		/** Records that a longer lease is about to be requested. */
		public void lengthens(Duration lease) {
			write("L " + this.number + ' ' + lease.toNanos());
		}

		/** Records that the hold may end earlier than claimed from now on. */
		public void retracts() {
			this.until = System.nanoTime();
			write("R " + this.number + ' ' + this.until);
		}

		/** Records that the lock is about to be released. */
		public void ends() {
			look();
			write("E " + this.number + ' ' + System.nanoTime());
		}

		/** Records that the lock was released, or that it had been lost. */
		public void ended(boolean lost) {
			write("X " + this.number + (lost ? " lost" : " released"));
		}

	}

}
