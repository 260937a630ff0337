package io.github.lockspring.redis.internal.client;

import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * A resource that is created when it is first used. If its creation fails, the next use
 * tries again. Thread-safe.
 */
final class LazyReference<T> {

	private final Supplier<T> source;

	private final ReentrantLock lock = new ReentrantLock();

	private volatile @Nullable T value;

	private volatile boolean closed;

	LazyReference(Supplier<T> source) {
		this.source = source;
	}

	/**
	 * Returns the resource. May block while it is created.
	 * @throws IllegalStateException if it was closed before it was used
	 */
	T get() {
		T value = this.value;
		if (value != null) {
			return value;
		}
		this.lock.lock();
		try {
			value = this.value;
			if (value == null) {
				if (this.closed) {
					throw new IllegalStateException("The lock store is closed");
				}
				value = this.source.get();
				this.value = value;
			}
			return value;
		}
		finally {
			this.lock.unlock();
		}
	}

	boolean isClosed() {
		return this.closed;
	}

	/**
	 * Disposes of the resource, if there is one, and prevents its creation.
	 */
	void close(Consumer<T> disposal) {
		this.lock.lock();
		try {
			this.closed = true;
			T value = this.value;
			if (value != null) {
				disposal.accept(value);
			}
		}
		finally {
			this.lock.unlock();
		}
	}

}
