package io.github.lockspring.jdbc;

import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * A statement with named parameters, some of which occur several times.
 *
 * @param sql the statement with placeholders
 * @param parameters the names of its parameters, in order
 */
record NamedStatement(String sql, List<String> parameters) {

	private static final Pattern PARAMETER = Pattern.compile(":([a-z]+)");

	/**
	 * Parses a statement with parameters such as {@code :key}.
	 */
	static NamedStatement parse(String sql) {
		Matcher matcher = PARAMETER.matcher(sql);
		return new NamedStatement(matcher.replaceAll("?"),
				PARAMETER.matcher(sql).results().map((found) -> found.group(1)).toList());
	}

	/**
	 * Sets all parameters.
	 * @param values a String or a Long for each name
	 */
	void bind(PreparedStatement statement, Map<String, ? extends @Nullable Object> values) throws SQLException {
		for (int i = 0; i < this.parameters.size(); i++) {
			Object value = values.get(this.parameters.get(i));
			if (value instanceof Long number) {
				statement.setLong(i + 1, number);
			}
			else {
				statement.setString(i + 1, (String) value);
			}
		}
	}

}
