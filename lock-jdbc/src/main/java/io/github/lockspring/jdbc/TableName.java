package io.github.lockspring.jdbc;

import java.util.regex.Pattern;

/**
 * Checks names of tables, which become part of statements.
 */
final class TableName {

	private static final Pattern FORM = Pattern.compile("[A-Za-z_][A-Za-z0-9_$]*(\\.[A-Za-z_][A-Za-z0-9_$]*)?");

	private TableName() {
	}

	/**
	 * Returns the name.
	 * @throws IllegalArgumentException if it is not a valid table name
	 */
	static String check(String name) {
		if (!FORM.matcher(name).matches()) {
			throw new IllegalArgumentException(
					"'" + name + "' is not a table name: use letters, digits and underscores,"
							+ " preceded by a schema and a dot where needed");
		}
		return name;
	}

}
