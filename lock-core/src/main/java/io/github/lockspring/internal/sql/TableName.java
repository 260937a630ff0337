package io.github.lockspring.internal.sql;

import java.util.regex.Pattern;

/**
 * The name of a table, which becomes part of statements.
 */
public final class TableName {

	private static final Pattern VALID = Pattern.compile("[A-Za-z_][A-Za-z0-9_$]*(\\.[A-Za-z_][A-Za-z0-9_$]*)?");

	private TableName() {
	}

	/**
	 * Checks a name and returns it.
	 * @throws IllegalArgumentException if it is not a valid table name
	 */
	public static String check(String name) {
		if (!VALID.matcher(name).matches()) {
			throw new IllegalArgumentException(
					"'" + name + "' is not a table name: use letters, digits and underscores,"
							+ " preceded by a schema and a dot where needed");
		}
		return name;
	}

}
