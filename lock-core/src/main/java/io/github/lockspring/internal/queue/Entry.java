package io.github.lockspring.internal.queue;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * An entry in the queue of a lock, of any instance.
 *
 * @since 0.1
 */
public interface Entry {

	/**
	 * Returns the text of the entry's owner token.
	 */
	String token();

	/**
	 * Returns the identifier of the entry, unique among all entries that the lock ever
	 * had.
	 */
	String id();

	/**
	 * An entry of this process.
	 *
	 * @since 0.1
	 */
	interface Own extends Entry {

		/**
		 * Returns a number that is larger than that of every earlier entry the server has
		 * ever had for the lock.
		 */
		long order();

		/**
		 * Returns the time until which the server is proven to keep the entry, unless it
		 * is removed. May be earlier than before if less is proven by now.
		 * @return a value of the store's clock, in nanoseconds
		 */
		long validUntil();

		/**
		 * Returns whether the entry is known to have ended, for example with its session
		 * or lease.
		 */
		boolean isOver();

	}

	/**
	 * The stored content of an entry.
	 *
	 * @param order the number of the entry, as {@link Own#order()}
	 * @param millis length of its owner's lease unless it is renewed; -1 if unknown
	 * @param kept whether the ownership has ended and the lock is only kept
	 * @param age approximate time since the entry was written; null if unknown
	 */
	record Content(long order, long millis, boolean kept, @Nullable Duration age) {

		private static final String KEPT = " kept";

		/**
		 * Formats the content for storing.
		 * @param millis length of the owner's lease
		 * @param kept whether the lock is only kept
		 * @return the text
		 */
		public static String text(long millis, boolean kept) {
			return millis + (kept ? KEPT : "");
		}

		/**
		 * Parses a stored content.
		 * @param order the number of the entry
		 * @param text the stored text; another client may have written anything
		 * @param age time since it was written
		 * @return the content
		 */
		public static Content parse(long order, String text, @Nullable Duration age) {
			boolean kept = text.endsWith(KEPT);
			String number = kept ? text.substring(0, text.length() - KEPT.length()) : text;
			return new Content(order, number.matches("\\d{1,15}") ? Long.parseLong(number) : -1, kept, age);
		}

	}

}
