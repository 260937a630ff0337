package io.github.lockspring.autoconfigure;

import java.time.Duration;

import io.github.lockspring.autoconfigure.DistributedLockProperties.Store;

import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;

/**
 * Times that also depend on the application's other properties.
 */
final class LockTimeouts {

	/**
	 * How long the first lock waits for a connection: a name to resolve, a TLS handshake
	 * and a login take longer than any command, and a server that is not there is known
	 * by then.
	 */
	static final Duration CONNECT = Duration.ofSeconds(5);

	private static final Duration SHUTDOWN = Duration.ofSeconds(10);

	private LockTimeouts() {
	}

	/**
	 * Returns how long to wait for a response of a store: databases and servers that
	 * write to disks need longer than Redis.
	 */
	static Duration command(DistributedLockProperties properties, Store store, Environment environment) {
		if (properties.commandTimeout() != null) {
			return properties.commandTimeout();
		}
		return switch (store) {
			case REDIS -> redis(Duration.ofSeconds(1), environment);
			case REDLOCK -> Duration.ofSeconds(1);
			case JDBC, ZOOKEEPER, ETCD, MEMORY -> Duration.ofSeconds(2);
		};
	}

	private static Duration redis(Duration byDefault, Environment environment) {
		Duration timeout = property("spring.data.redis.timeout", byDefault, environment);
		if (timeout.compareTo(DistributedLockProperties.MIN_COMMAND_TIMEOUT) < 0) {
			// zero means no timeout
			return (timeout.isZero() || timeout.isNegative()) ? byDefault
					: DistributedLockProperties.MIN_COMMAND_TIMEOUT;
		}
		return min(timeout, byDefault);
	}

	/**
	 * Returns how long work under a lock may take to end when the application stops: web
	 * requests and tasks of executors have ended by then.
	 */
	static Duration shutdown(Environment environment) {
		Duration phase = property("spring.lifecycle.timeout-per-shutdown-phase", SHUTDOWN, environment);
		return phase.isNegative() ? Duration.ZERO : min(phase, SHUTDOWN);
	}

	static Duration min(Duration one, Duration other) {
		return (one.compareTo(other) < 0) ? one : other;
	}

	private static Duration property(String name, Duration byDefault, Environment environment) {
		return Binder.get(environment).bind(name, Duration.class).orElse(byDefault);
	}

}
