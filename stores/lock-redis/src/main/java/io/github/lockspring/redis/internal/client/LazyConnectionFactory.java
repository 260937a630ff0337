package io.github.lockspring.redis.internal.client;

import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * A connection factory that is opened when it is first used. If that fails, the next use
 * tries again. Thread-safe.
 */
final class LazyConnectionFactory {

	private final Supplier<RedisConnectionFactory> source;

	private final Consumer<RedisConnectionFactory> disposal;

	private final ReentrantLock lock = new ReentrantLock();

	private @Nullable RedisConnectionFactory present;

	private volatile boolean closed;

	/**
	 * Starts without a factory.
	 * @param source opens one; may block, and fail
	 * @param disposal closes it
	 */
	LazyConnectionFactory(Supplier<RedisConnectionFactory> source, Consumer<RedisConnectionFactory> disposal) {
		this.source = source;
		this.disposal = disposal;
	}

	/**
	 * Returns the factory. May block while it is opened.
	 * @throws IllegalStateException if it was closed
	 */
	RedisConnectionFactory get() {
		this.lock.lock();
		try {
			if (this.closed) {
				throw new IllegalStateException("The lock store is closed");
			}
			RedisConnectionFactory factory = (this.present != null) ? this.present : this.source.get();
			this.present = factory;
			return factory;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Closes the present factory, so that the next use opens another one.
	 */
	void replace() {
		this.lock.lock();
		try {
			RedisConnectionFactory factory = this.present;
			this.present = null;
			if (factory != null) {
				this.disposal.accept(factory);
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	boolean isClosed() {
		return this.closed;
	}

	/**
	 * Closes the factory, and opens no other.
	 */
	void close() {
		this.closed = true;
		replace();
	}

}
