package io.github.lockspring.internal.engine.support;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.InstanceInfo;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the store who this instance is, in the background and only now and then, for the
 * messages of others. Nothing depends on whether that succeeds. Thread-safe: the watchdog
 * and callers that wait run it, and of two that do so at the same time both may register.
 *
 * @since 0.1
 */
public final class InstanceRegistration implements Runnable {

	private static final Logger logger = LoggerFactory.getLogger(InstanceRegistration.class);

	private static final long INTERVAL_NANOS = 20_000_000_000L;

	private static final Duration TTL = Duration.ofSeconds(60);

	private final String instance;

	private final StoreClient client;

	private final Time time;

	private final Executor executor;

	private volatile @Nullable Supplier<InstanceInfo> description;

	private volatile long next;

	/**
	 * Creates a registration that registers nothing yet.
	 * @param instance the instance part of the owner tokens
	 * @param client sends the requests
	 * @param time the clock
	 * @param executor runs what blocks
	 */
	public InstanceRegistration(String instance, StoreClient client, Time time, Executor executor) {
		this.instance = instance;
		this.client = client;
		this.time = time;
		this.executor = executor;
		this.next = time.nanoTime();
	}

	/**
	 * Sets what to register.
	 * @param description describes the instance; may block
	 */
	public void describe(Supplier<InstanceInfo> description) {
		this.description = description;
	}

	/**
	 * Registers the instance in the background, unless that was done a short time ago or
	 * there is nothing to register. Never blocks.
	 */
	@Override
	public void run() {
		Supplier<InstanceInfo> description = this.description;
		long now = this.time.nanoTime();
		if (description == null || now - this.next < 0) {
			return;
		}
		this.next = now + INTERVAL_NANOS;
		try {
			this.executor.execute(() -> register(description));
		}
		catch (RuntimeException | Error ex) {
			// no thread for it now
			logger.debug("This instance could not be registered", ex);
		}
	}

	private void register(Supplier<InstanceInfo> description) {
		try {
			this.client.register(this.instance, description.get(), TTL);
		}
		catch (LockUnavailableException ex) {
			logger.debug("This instance could not be registered", ex);
		}
	}

}
