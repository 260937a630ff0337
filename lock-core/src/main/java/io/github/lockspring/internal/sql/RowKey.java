package io.github.lockspring.internal.sql;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.regex.Pattern;

/**
 * Converts the name of a fenced resource or of a lock into the key of its row. The key is
 * the name itself, unless the name is too long or contains characters that not every
 * database can store. Then the key is the beginning of the name, a {@code #}, and the
 * SHA-256 of the whole name (in UTF-8) as hexadecimal digits. Names that already have
 * this form are converted in the same way, so two names share a row only if they have the
 * same SHA-256.
 */
public final class RowKey {

	/** Maximum length of a key: the length of the column. */
	static final int MAX_LENGTH = 255;

	private static final Pattern HASHED = Pattern.compile(".*#[0-9a-f]{64}", Pattern.DOTALL);

	private static final int HASH_LENGTH = 65;

	private static final char NUL = 0;

	private RowKey() {
	}

	/**
	 * Returns the key of a name's row.
	 */
	public static String of(String name) {
		boolean fits = name.length() <= MAX_LENGTH && isStorable(name)
				&& (name.length() < HASH_LENGTH || !HASHED.matcher(name).matches());
		return (fits) ? name : beginning(name) + '#' + sha256(name);
	}

	/**
	 * Returns whether every database can store the text. PostgreSQL cannot store NUL, and
	 * half a surrogate pair cannot be encoded in UTF-8.
	 */
	private static boolean isStorable(String text) {
		return text.indexOf(NUL) < 0 && StandardCharsets.UTF_8.newEncoder().canEncode(text);
	}

	private static String beginning(String name) {
		int length = Math.min(name.length(), MAX_LENGTH - HASH_LENGTH);
		StringBuilder beginning = new StringBuilder(MAX_LENGTH);
		for (int i = 0; i < length; i++) {
			char next = name.charAt(i);
			boolean pair = Character.isHighSurrogate(next) && i + 1 < length
					&& Character.isLowSurrogate(name.charAt(i + 1));
			if (pair) {
				beginning.append(next).append(name.charAt(++i));
			}
			else {
				beginning.append((next == NUL || Character.isSurrogate(next)) ? '?' : next);
			}
		}
		return beginning.toString();
	}

	private static String sha256(String text) {
		try {
			byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
			return HexFormat.of().formatHex(digest);
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("Every Java platform has SHA-256", ex);
		}
	}

}
