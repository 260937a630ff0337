package io.github.lockspring.zookeeper;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The paths of nodes. Immutable.
 *
 * @param root the path of all locks, including the client's namespace
 */
record LockPaths(String root) {

	private static final int SEQUENCE_DIGITS = 10;

	/** Not after an overflow, when the number is negative. */
	private static final Pattern SEQUENTIAL = Pattern.compile("(?!.*--\\d+$).*\\d{" + SEQUENCE_DIGITS + "}");

	private static final String LAST = "2000000000";

	private static final String PLAIN = "-_.:@,;=+~!$&'()*#";

	/** Returns the path of a lock's container. */
	String lock(String key) {
		return this.root + "/" + encode(key);
	}

	/** Encodes a name as a valid part of a path that stays readable. */
	static String encode(String name) {
		StringBuilder encoded = new StringBuilder();
		boolean dots = name.equals(".") || name.equals("..");
		for (byte each : name.getBytes(StandardCharsets.UTF_8)) {
			char letter = (char) (each & 0xff);
			boolean plain = letter < 128 && (Character.isLetterOrDigit(letter) || PLAIN.indexOf(letter) >= 0);
			if (plain && !(dots && letter == '.')) {
				encoded.append(letter);
			}
			else {
				encoded.append('%').append(String.format("%02X", (int) letter));
			}
		}
		return encoded.toString();
	}

	/** Returns the path of an entry without its sequence number. */
	String entry(String key, String token) {
		return lock(key) + "/" + token + "-";
	}

	/** Returns the nodes above those of the locks, outermost first. */
	List<String> roots() {
		List<String> paths = new ArrayList<>();
		for (int i = this.root.indexOf('/', 1); i > 0; i = this.root.indexOf('/', i + 1)) {
			paths.add(this.root.substring(0, i));
		}
		paths.add(this.root);
		return paths;
	}

	/**
	 * Returns whether the sequence number of an entry is close to an overflow. The server
	 * counts the entries of a container with an int. A new container starts at 0, and the
	 * server deletes an empty one, so no more entries are added until then.
	 */
	static boolean isTooLate(String entry) {
		int start = entry.length() - SEQUENCE_DIGITS;
		boolean negative = entry.charAt(start) == '-' || entry.charAt(start - 2) == '-';
		return negative || entry.substring(start).compareTo(LAST) > 0;
	}

	static String tooLate(String key) {
		return "Lock '" + key + "' has had two billion entries in ZooKeeper and was never idle for a minute."
				+ " It can be acquired again after the server has deleted its empty container";
	}

	/**
	 * Returns the entries of a lock in order: all sequential nodes, also those that
	 * another version or program has named.
	 */
	static List<Node> sorted(String lock, List<String> children) {
		return children.stream()
			.filter((name) -> SEQUENTIAL.matcher(name).matches())
			.sorted(Comparator.comparing((name) -> name.substring(name.length() - SEQUENCE_DIGITS)))
			.map((name) -> new Node(lock + "/" + name,
					name.substring(0, name.length() - SEQUENCE_DIGITS).replaceFirst("-$", "")))
			.toList();
	}

}
