package io.github.lockspring.zookeeper;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The names of nodes. Immutable.
 *
 * @param root the path of all locks, with the client's namespace
 */
record LockPaths(String root) {

	private static final int SEQUENCE_DIGITS = 10;

	private static final String LAST = "2000000000";

	private static final String PLAIN = "-_.:@,;=+~!$&'()*#";

	/** The container of a lock. */
	String lock(String key) {
		return this.root + "/" + encode(key);
	}

	/** Names stay readable, and any of them is a valid part of a path. */
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

	/** The beginning of the path of an entry, before its number. */
	String entry(String key, String token) {
		return lock(key) + "/" + token + "-";
	}

	/** The containers to create, the outer ones first. */
	List<String> containers(String key) {
		List<String> paths = new ArrayList<>();
		for (int i = this.root.indexOf('/', 1); i > 0; i = this.root.indexOf('/', i + 1)) {
			paths.add(this.root.substring(0, i));
		}
		paths.add(this.root);
		paths.add(lock(key));
		return paths;
	}

	/**
	 * The server counts the entries of a container with an int. Before it overflows,
	 * entries are not added any more: the server deletes the container when the last one
	 * is gone, and counts anew in the next one.
	 */
	static boolean isTooLate(String entry) {
		int start = entry.length() - SEQUENCE_DIGITS;
		boolean negative = entry.charAt(start) == '-' || entry.charAt(start - 2) == '-';
		return negative || entry.substring(start).compareTo(LAST) > 0;
	}

	static String tooLate(String key) {
		return "Lock '" + key + "' has had two billion entries in ZooKeeper without a minute in which nobody held it or"
				+ " waited for it: it can be acquired again when the server has deleted its empty container";
	}

	/** The entries of a lock in their order; nodes of others are left out. */
	static List<Node> sorted(String lock, List<String> children) {
		return children.stream()
			.filter((name) -> name.matches(".*[^-]-\\d{" + SEQUENCE_DIGITS + "}"))
			.sorted(Comparator.comparing((name) -> name.substring(name.length() - SEQUENCE_DIGITS)))
			.map((name) -> new Node(lock + "/" + name, name.substring(0, name.length() - SEQUENCE_DIGITS - 1)))
			.toList();
	}

}
