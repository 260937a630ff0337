package io.github.lockspring.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiFunction;
import java.util.function.Consumer;

import io.github.lockspring.LockUnavailableException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.data.redis.core.script.RedisScript;

/**
 * A node of Redlock: its connections, the threads that ask it, and what is known of it.
 */
final class Voter {

	/*
	 * Drivers are asked through blocking calls, and several nodes have to be asked at
	 * once, so that each node has threads of its own: a node that does not answer keeps
	 * its own threads busy and nobody else's. There are a few of them, made when needed,
	 * and the line before them is short: what does not fit in is not asked, which counts
	 * as no answer. Whoever gives up a request takes it out of the line again.
	 *
	 * `known`, `runId` and `trouble` are hints that any thread sets.
	 */

	private static final Logger logger = LoggerFactory.getLogger(Voter.class);

	static final int THREADS = 4;

	static final int LONGEST_LINE = 1000;

	private static final long IDLE_SECONDS = 30;

	private static final long QUIET_NANOS = TimeUnit.MINUTES.toNanos(1);

	private final String name;

	private final RedisConnections connections;

	private final RedisCommands commands;

	private final ThreadPoolExecutor threads;

	private volatile boolean known;

	private volatile @Nullable String runId;

	private final AtomicReference<@Nullable Trouble> trouble = new AtomicReference<>();

	Voter(String name, RedisConnections connections, Duration commandTimeout) {
		this.name = name;
		this.connections = connections;
		this.commands = new RedisCommands(connections, commandTimeout);
		AtomicInteger number = new AtomicInteger();
		this.threads = new ThreadPoolExecutor(THREADS, THREADS, IDLE_SECONDS, TimeUnit.SECONDS,
				new LinkedBlockingQueue<>(LONGEST_LINE),
				(task) -> DaemonThreads.thread("lock-redlock-" + name + "-" + number.incrementAndGet(), task));
		this.threads.allowCoreThreadTimeOut(true);
	}

	String name() {
		return this.name;
	}

	/**
	 * Whether it has ever answered: until then, time is needed for connecting.
	 */
	boolean isKnown() {
		return this.known;
	}

	/**
	 * Who the server said it was when it was last asked.
	 */
	@Nullable String runId() {
		return this.runId;
	}

	void identify(@Nullable String runId) {
		this.runId = runId;
	}

	/**
	 * Asks on one of this node's threads. The reply, of whatever kind, is given to the
	 * consumer: on that thread, or on the caller's if there is none.
	 * @return what to give to {@link #giveUp}
	 */
	<A> Runnable ask(BiFunction<Voter, Duration, A> request, Duration timeout, Consumer<Reply<A>> consumer) {
		Runnable task = () -> consumer.accept(answer(request, timeout));
		try {
			this.threads.execute(task);
		}
		catch (RejectedExecutionException ex) {
			consumer.accept(new Reply.Failed<>(this, new LockUnavailableException(
					this.threads.isShutdown() ? "the lock store is closed" : "too many questions stand in line for it",
					ex)));
		}
		catch (RuntimeException | Error ex) {
			// an error too: a machine may be out of threads for a moment
			consumer.accept(new Reply.Failed<>(this, new LockUnavailableException(String.valueOf(ex), ex)));
		}
		return task;
	}

	private <A> Reply<A> answer(BiFunction<Voter, Duration, A> request, Duration timeout) {
		try {
			A answer = request.apply(this, timeout);
			this.known = true;
			return new Reply.Answered<>(this, answer);
		}
		catch (LockUnavailableException ex) {
			return new Reply.Failed<>(this, ex);
		}
		catch (RuntimeException | Error ex) {
			return new Reply.Failed<>(this, new LockUnavailableException(String.valueOf(ex), ex));
		}
	}

	/**
	 * Does not ask any more if it has not begun to.
	 * @return false if it had
	 */
	boolean giveUp(Runnable task) {
		return this.threads.remove(task);
	}

	/**
	 * Runs a script, on the calling thread.
	 */
	<T> T run(RedisScript<T> script, List<String> keys, Object[] args, Duration timeout) {
		return this.commands.run(script, keys, args, timeout);
	}

	/**
	 * Takes note of whether the node can do its part. A majority does without it, so that
	 * nobody else would notice.
	 * @param problem what is wrong, or null if nothing is
	 */
	void note(@Nullable String problem) {
		if (this.threads.isShutdown()) {
			return;
		}
		Trouble before = this.trouble.get();
		if (problem == null) {
			if (before != null && this.trouble.compareAndSet(before, null)) {
				logger.info("Redlock node {} votes again", this.name);
			}
			return;
		}
		long now = System.nanoTime();
		if (before == null || now - before.logged > QUIET_NANOS) {
			if (this.trouble.compareAndSet(before, new Trouble(now))) {
				logger.warn("Redlock node {}. Locks need the other nodes", problem);
			}
		}
	}

	/**
	 * Takes no more requests.
	 */
	void end() {
		this.threads.shutdown();
	}

	/**
	 * Waits no longer than this for what was asked already.
	 */
	void close(Duration patience) {
		try {
			this.threads.awaitTermination(patience.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		this.threads.shutdownNow();
		this.connections.close();
	}

	@Override
	public String toString() {
		return this.name;
	}

	private record Trouble(long logged) {
	}

	/**
	 * What came of a request.
	 */
	sealed interface Reply<A> {

		Voter voter();

		record Answered<A>(Voter voter, A answer) implements Reply<A> {
		}

		record Failed<A>(Voter voter, LockUnavailableException failure) implements Reply<A> {

			/**
			 * The failure as it is told, beginning with the node's name.
			 */
			String problem() {
				String words = String.valueOf(this.failure.getMessage());
				return words.startsWith("Redis ") ? this.voter.name() + words.substring("Redis".length())
						: this.voter.name() + ": " + words;
			}

		}

	}

}
