package io.github.lockspring.internal.base;

import java.util.concurrent.ThreadFactory;

/**
 * Creates the threads of the engine and of stores: daemons that have nothing of the
 * thread that happens to need them first. They inherit neither its
 * {@link InheritableThreadLocal}s, which may belong to one user's request, nor its
 * context class loader or priority. Thread-safe.
 *
 * @param name the name of the threads
 * @since 0.1
 */
public record DaemonThreadFactory(String name) implements ThreadFactory {

	/**
	 * Creates a thread that is not started.
	 * @param task what it runs
	 * @return the thread
	 */
	@Override
	public Thread newThread(Runnable task) {
		Thread thread = new Thread(null, task, this.name, 0, false);
		thread.setDaemon(true);
		thread.setPriority(Thread.NORM_PRIORITY);
		thread.setContextClassLoader(DaemonThreadFactory.class.getClassLoader());
		return thread;
	}

}
