package io.github.lockspring.autoconfigure;

import io.github.lockspring.internal.engine.LockEngine;
import org.jspecify.annotations.Nullable;

import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ContextClosedEvent;

/**
 * Stops the engine when the application stops, and starts it again when the context is
 * started again.
 */
/*
 * For maintainers: the engine is created on the thread that first needs it, while the
 * context starts, runs or closes, or never; the context calls the lifecycle's methods on
 * its own thread. `this` guards the fields and is never held while the engine stops,
 * which may take as long as the work under its locks.
 */
class LockEngineLifecycle implements SmartLifecycle, ApplicationListener<ContextClosedEvent> {

	/**
	 * Half-way between the users of locks and what locks need. Greater phases stop first:
	 * by then, the web server has completed its requests, and executors and schedulers,
	 * at {@code MAX_VALUE / 2}, their tasks; connection factories, at 0, stop after the
	 * releases. Phases start in the reverse order. The distance to both leaves room for
	 * an application's own phases.
	 */
	static final int PHASE = Integer.MAX_VALUE / 4;

	private final ApplicationContext context;

	private @Nullable LockEngine engine;

	private boolean closing;

	private boolean stopped;

	private volatile boolean running;

	LockEngineLifecycle(ApplicationContext context) {
		this.context = context;
	}

	/**
	 * Registers the engine.
	 * @param engine the engine, which may be in use already
	 */
	synchronized void manage(LockEngine engine) {
		this.engine = engine;
		if (this.stopped) {
			engine.stop();
		}
		else if (this.closing) {
			engine.stopWaiting();
		}
	}

	/**
	 * Ends all waiting, which would only delay the close.
	 */
	@Override
	public void onApplicationEvent(ContextClosedEvent event) {
		// events of child contexts arrive here too
		if (event.getApplicationContext() == this.context) {
			synchronized (this) {
				this.closing = true;
				if (this.engine != null) {
					this.engine.stopWaiting();
				}
			}
		}
	}

	@Override
	public synchronized void start() {
		this.closing = false;
		this.stopped = false;
		if (this.engine != null) {
			this.engine.start();
		}
		this.running = true;
	}

	@Override
	public void stop() {
		this.running = false;
		LockEngine engine;
		synchronized (this) {
			this.closing = true;
			this.stopped = true;
			engine = this.engine;
		}
		if (engine != null) {
			engine.stop();
		}
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	@Override
	public int getPhase() {
		return PHASE;
	}

}
