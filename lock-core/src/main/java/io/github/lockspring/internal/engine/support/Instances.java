package io.github.lockspring.internal.engine.support;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

import io.github.lockspring.store.InstanceInfo;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.LockStoreInspector;
import io.github.lockspring.store.StoredLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The instances that share a store, for messages to people: registers this one in the
 * store, in the background and only now and then, and looks up which one holds a lock.
 * Nothing depends on whether that succeeds. Thread-safe: the watchdog and callers that
 * wait register the instance, and of two that do so at the same time both may.
 *
 * @since 0.1
 */
public final class Instances {

	private static final Logger logger = LoggerFactory.getLogger(Instances.class);

	private static final long INTERVAL_NANOS = 20_000_000_000L;

	private static final Duration TTL = Duration.ofSeconds(60);

	/** For a lookup that only a message needs. */
	private static final Duration LOOKUP_TIMEOUT = Duration.ofMillis(200);

	private final String instance;

	private final @Nullable Supplier<InstanceInfo> description;

	private final LockStore store;

	private final Duration commandTimeout;

	private final Time time;

	private final Executor executor;

	private volatile long next;

	/**
	 * Registers nothing yet.
	 * @param instance the instance part of the owner tokens
	 * @param description describes this instance, and may block; null: there is nothing
	 * to register
	 * @param store the store
	 * @param commandTimeout longest wait for it
	 * @param time the clock
	 * @param executor runs what blocks
	 */
	public Instances(String instance, @Nullable Supplier<InstanceInfo> description, LockStore store,
			Duration commandTimeout, Time time, Executor executor) {
		this.instance = instance;
		this.description = description;
		this.store = store;
		this.commandTimeout = commandTimeout;
		this.time = time;
		this.executor = executor;
		this.next = time.nanoTime();
	}

	/**
	 * Registers this instance in the background, unless that was done a short time ago or
	 * there is nothing to register. Never blocks.
	 */
	public void register() {
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
			this.store.inspector()
				.ifPresent(
						(inspector) -> inspector.register(this.instance, description.get(), TTL, this.commandTimeout));
		}
		catch (RuntimeException ex) {
			logger.debug("This instance could not be registered", ex);
		}
	}

	/**
	 * The holder of a lock.
	 *
	 * @param info the instance
	 * @param age since when, or null if that is not known
	 */
	public record Owner(InstanceInfo info, @Nullable Duration age) {
	}

	/**
	 * Looks up who holds a lock. Waits only for a moment, and never fails.
	 * @param key the key
	 * @return the owner, or empty if it is not known
	 */
	public Optional<Owner> owner(String key) {
		if (Thread.currentThread().isInterrupted()) {
			return Optional.empty();
		}
		Duration timeout = (this.commandTimeout.compareTo(LOOKUP_TIMEOUT) < 0) ? this.commandTimeout : LOOKUP_TIMEOUT;
		try {
			return this.store.inspector().flatMap((inspector) -> owner(inspector, key, timeout));
		}
		catch (RuntimeException ex) {
			logger.debug("The owner of lock '{}' could not be looked up", key, ex);
			return Optional.empty();
		}
	}

	private static Optional<Owner> owner(LockStoreInspector inspector, String key, Duration timeout) {
		StoredLock lock = inspector.find(key, timeout).orElse(null);
		String instance = (lock != null) ? lock.instance().orElse(null) : null;
		if (lock == null || instance == null) {
			return Optional.empty();
		}
		InstanceInfo info = inspector.instances(List.of(instance), timeout).get(instance);
		return Optional.ofNullable(info).map((known) -> new Owner(known, lock.age()));
	}

}
