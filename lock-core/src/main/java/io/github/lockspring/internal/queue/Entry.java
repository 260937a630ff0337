package io.github.lockspring.internal.queue;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * An entry in the queue of one lock, of any instance.
 *
 * @since 0.1
 */
public interface Entry {

	/**
	 * Returns the text of the owner token that the entry stands for.
	 */
	String token();

	/**
	 * Returns what identifies the entry, which no other entry of the lock has. One token
	 * may have several entries, such as one of an earlier session that the server still
	 * keeps.
	 */
	String id();

	/**
	 * An entry of this process.
	 *
	 * @since 0.1
	 */
	interface Own extends Entry {

		/**
		 * Returns the place of the entry among all that this server has ever had for the
		 * lock: larger than that of each earlier one.
		 */
		long order();

		/**
		 * Returns until when the server will certainly keep the entry, unless it is
		 * removed.
		 * @return a value of {@link System#nanoTime()}
		 */
		long validUntil();

		/**
		 * Returns whether the entry is known to have ended, for example with its session.
		 */
		boolean isOver();

	}

	/**
	 * What is stored in an entry.
	 *
	 * @param order the place of the entry, as {@link Own#order()}
	 * @param millis for how long its owner has the lock unless it is renewed, as far as
	 * is known
	 * @param kept whether the ownership has ended, and only the lock is kept
	 * @param age time since the entry was written, about; null if it is not known
	 */
	record Content(long order, long millis, boolean kept, @Nullable Duration age) {

		private static final String KEPT = " kept";

		/**
		 * Returns what to store.
		 */
		static String text(long millis, boolean kept) {
			return millis + (kept ? KEPT : "");
		}

		/**
		 * Parses what is stored.
		 * @param order the place of the entry
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
