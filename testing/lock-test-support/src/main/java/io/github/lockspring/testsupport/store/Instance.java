package io.github.lockspring.testsupport.store;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.LongSupplier;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.internal.UnitOfWork;
import io.github.lockspring.internal.base.MonotonicClock;
import io.github.lockspring.internal.engine.EngineSettings;
import io.github.lockspring.internal.engine.LockEngine;
import io.github.lockspring.internal.engine.support.LockRecorder;
import io.github.lockspring.store.InstanceInfo;
import io.github.lockspring.store.LockStore;
import org.jspecify.annotations.Nullable;

import static org.awaitility.Awaitility.await;

/**
 * One instance of an application: a store that a test controls, and an engine.
 *
 * @since 0.1
 */
public final class Instance implements AutoCloseable {

	private final ControlledStore store;

	private final LockEngine engine;

	private final Queue<LockEvent> events = new ConcurrentLinkedQueue<>();

	private Instance(Builder builder) {
		this.store = new ControlledStore(builder.store);
		InstanceInfo info = builder.info;
		this.engine = new LockEngine(this.store, builder.settings(), this.events::add, UnitOfWork.NONE,
				LockRecorder.NONE, (info != null) ? () -> info : null, builder.clock::getAsLong);
		this.engine.start();
	}

	/** Creates a builder for an instance, which closes the store at the end. */
	public static Builder over(LockStore store) {
		return new Builder(store);
	}

	/** Acquires locks. */
	public LockTemplate locks() {
		return this.engine.template();
	}

	/** Controls what is sent to the store and what arrives. */
	public ControlledStore store() {
		return this.store;
	}

	/** Returns the events of one kind. */
	public <E extends LockEvent> List<E> events(Class<E> kind) {
		return this.events.stream().filter(kind::isInstance).map(kind::cast).toList();
	}

	/** Returns the number of callers of this instance that wait for a key. */
	public int waiting(String key) {
		return this.engine.lock(key).map(LockEngine.LocalLock::waiting).orElse(0);
	}

	/** Returns whether this instance holds a key or waits for it. */
	public boolean uses(String key) {
		return this.engine.lock(key).isPresent();
	}

	/** Opens the inbox, as the first wait does, and waits until messages arrive. */
	public void openInbox() {
		LockRequest request = LockRequest.of("open the inbox " + System.nanoTime());
		try (HeldLock held = locks().acquire(request.waitTime(Duration.ofMinutes(1)))) {
			held.ensureHeld();
			locks().tryAcquire(request.waitTime(Duration.ofMillis(1))).ifPresent(HeldLock::close);
		}
		if (this.store.hasQueue()) {
			await().pollDelay(Duration.ZERO).until(this.store::isInformed);
		}
	}

	/** Stops the engine; the store stays open. */
	public void stop() {
		this.engine.stop();
	}

	/** Stops the engine, closes the store, and lets all gates pass. */
	@Override
	public void close() {
		this.store.openAll();
		this.engine.close();
		this.store.close();
	}

	/**
	 * Builds an instance, by default with the settings of an application without
	 * properties.
	 */
	public static final class Builder {

		private final LockStore store;

		private Duration commandTimeout = EngineSettings.defaults().commandTimeout();

		private Duration shutdownTimeout = EngineSettings.defaults().shutdownTimeout();

		private @Nullable InstanceInfo info;

		private LongSupplier clock = MonotonicClock.SYSTEM;

		private Builder(LockStore store) {
			this.store = store;
		}

		/** Sets how long to wait for a reply of the store. */
		public Builder commandTimeout(Duration commandTimeout) {
			this.commandTimeout = commandTimeout;
			return this;
		}

		/** Sets how long a stop waits for work under a lock. */
		public Builder shutdownTimeout(Duration shutdownTimeout) {
			this.shutdownTimeout = shutdownTimeout;
			return this;
		}

		/** Sets the name registered for others; empty for none. */
		public Builder application(String name) {
			this.info = name.isEmpty() ? null : new InstanceInfo(name, "localhost", ProcessHandle.current().pid());
			return this;
		}

		/** Sets the clock of the engine, in nanoseconds. */
		public Builder clock(LongSupplier clock) {
			this.clock = clock;
			return this;
		}

		/** Creates and starts it. */
		public Instance start() {
			return new Instance(this);
		}

		private EngineSettings settings() {
			EngineSettings defaults = EngineSettings.defaults();
			return new EngineSettings(defaults.ttl(), defaults.waitTime(), defaults.maxHold(), this.commandTimeout,
					this.shutdownTimeout, defaults.asyncRelease());
		}

	}

}
