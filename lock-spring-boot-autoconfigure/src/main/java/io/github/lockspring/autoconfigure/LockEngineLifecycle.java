package io.github.lockspring.autoconfigure;

import io.github.lockspring.engine.LockEngine;
import org.jspecify.annotations.Nullable;

import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationContextAware;
import org.springframework.context.ApplicationListener;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ContextClosedEvent;

/**
 * Stops the engine when the application stops, and starts it again with a context that is
 * started again.
 * <p>
 * For maintainers: the engine is made late, or never, on whatever thread first asks for
 * it, while the context starts, runs or closes; the context calls the lifecycle's methods
 * on its own thread. {@code this} guards the fields and is never held while the engine
 * stops, which may take as long as the work under its locks.
 */
class LockEngineLifecycle implements SmartLifecycle, ApplicationContextAware, ApplicationListener<ContextClosedEvent> {

	/**
	 * Half-way between what uses locks and what locks need. Greater phases stop first:
	 * the web server has then answered its requests, and executors and schedulers, at
	 * {@code MAX_VALUE / 2}, have ended their tasks; the connection factories, at 0, are
	 * still there for the releases. Starting goes the other way round. The distance to
	 * both leaves room for an application's own phases.
	 */
	static final int PHASE = Integer.MAX_VALUE / 4;

	private @Nullable ApplicationContext context;

	private @Nullable LockEngine engine;

	private boolean closing;

	private boolean stopped;

	private volatile boolean running;

	@Override
	public void setApplicationContext(ApplicationContext applicationContext) {
		this.context = applicationContext;
	}

	/**
	 * Takes the engine under control.
	 * @param engine the engine, usable already
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
	 * Closing begins: from now on, waiting for a lock could only delay it.
	 */
	@Override
	public void onApplicationEvent(ContextClosedEvent event) {
		// A child context's event comes along here too
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
	public void start() {
		synchronized (this) {
			this.closing = false;
			this.stopped = false;
			if (this.engine != null) {
				this.engine.start();
			}
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
