package io.github.lockspring.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * A source that lets a test see, and change, what is done with its connections and their
 * prepared statements.
 */
final class InterceptedDataSource extends DelegatingDataSource {

	private final Interceptor interceptor;

	InterceptedDataSource(DataSource target, Interceptor interceptor) {
		super(target);
		this.interceptor = interceptor;
	}

	@Override
	public Connection getConnection() throws SQLException {
		return intercepted(Connection.class, super.getConnection(), "");
	}

	private <T> T intercepted(Class<T> type, T target, String sql) {
		return type
			.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, (proxy, method, arguments) -> {
				Object result = this.interceptor.call(sql, method, arguments, () -> {
					try {
						return method.invoke(target, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getTargetException();
					}
				});
				return (result instanceof PreparedStatement statement)
						? intercepted(PreparedStatement.class, statement, (String) arguments[0]) : result;
			}));
	}

	/** Gets each call. */
	interface Interceptor {

		/**
		 * Carries out a call, or something else.
		 * @param sql the statement; empty for the connection
		 */
		@Nullable Object call(String sql, Method method, Object[] arguments, Call call) throws Throwable;

	}

	/** A call that may be carried out. */
	interface Call {

		@Nullable Object proceed() throws Throwable;

	}

}
