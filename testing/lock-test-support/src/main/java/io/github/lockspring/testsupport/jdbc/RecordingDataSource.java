package io.github.lockspring.testsupport.jdbc;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * Records each statement before it is executed. With the product name "Oracle" it refuses
 * to release savepoints, as that driver does. Thread-safe.
 *
 * @since 0.1
 */
public final class RecordingDataSource extends DelegatingDataSource {

	private final List<String> statements = new CopyOnWriteArrayList<>();

	private final @Nullable String product;

	/** Creates a source that reports the real product name. */
	public RecordingDataSource(DataSource target) {
		this(target, null);
	}

	/**
	 * Creates a source.
	 * @param target the source of the connections
	 * @param product the product name to report, or null for the real one
	 */
	public RecordingDataSource(DataSource target, @Nullable String product) {
		super(target);
		this.product = product;
	}

	/** Returns the executed statements in order. */
	public List<String> statements() {
		return this.statements;
	}

	@Override
	public Connection getConnection() throws SQLException {
		Connection target = super.getConnection();
		return proxy(Connection.class, (proxy, method, arguments) -> {
			if (method.getName().equals("releaseSavepoint") && "Oracle".equals(this.product)) {
				throw new SQLFeatureNotSupportedException();
			}
			Object result = call(target, method, arguments);
			if (result instanceof PreparedStatement prepared && arguments != null) {
				return recording(PreparedStatement.class, prepared, (String) arguments[0]);
			}
			if (result instanceof DatabaseMetaData metaData && this.product != null) {
				return proxy(DatabaseMetaData.class,
						(self, request, details) -> request.getName().equals("getDatabaseProductName") ? this.product
								: call(metaData, request, details));
			}
			return (result instanceof Statement statement) ? recording(Statement.class, statement, "") : result;
		});
	}

	private <S extends Statement> S recording(Class<S> type, S target, String sql) {
		return proxy(type, (proxy, method, arguments) -> {
			if (method.getName().startsWith("execute")) {
				this.statements.add((arguments != null && arguments.length > 0) ? String.valueOf(arguments[0]) : sql);
			}
			return call(target, method, arguments);
		});
	}

	private static <T> T proxy(Class<T> type, InvocationHandler handler) {
		return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, handler));
	}

	private static @Nullable Object call(Object target, Method method, @Nullable Object @Nullable [] arguments)
			throws Throwable {
		try {
			return method.invoke(target, arguments);
		}
		catch (InvocationTargetException ex) {
			throw ex.getTargetException();
		}
	}

}
