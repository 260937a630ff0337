package io.github.lockspring.etcd;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.options.WatchOption;
import io.etcd.jetcd.watch.WatchEvent.EventType;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.base.DaemonThreadFactory;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The client through which requests are sent. A client of the store's own is replaced
 * when requests have had no answer for some time: gRPC lets a client wait for as long as
 * an outage has lasted before it connects again, and a new client connects at once.
 * Thread-safe.
 */
/*
 * For maintainers: failures arrive on threads of the client and of timers, which must not
 * wait, so a thread of this connection replaces the client. A request may be begun on a
 * client that is being closed; it fails then. A watch may not: a closed client would make
 * threads for it. So watches are begun, and links are closed, under the monitor of the
 * link. Inside of it the client takes a lock of its own, under which it also calls
 * listeners: so what follows the end of a watch, but not the event that it is for, is
 * done by the thread of this connection. That is never shut down, since a listener that
 * fails would keep the client from closing the rest; without work it ends.
 */
final class EtcdConnection implements AutoCloseable {

	/** Replacements are at least so far apart. */
	static final Duration PATIENCE = Duration.ofSeconds(5);

	private static final Logger logger = LoggerFactory.getLogger(EtcdConnection.class);

	private final @Nullable Supplier<Client> clients;

	private final long timeoutMillis;

	private final long patienceNanos;

	private final AtomicReference<Link> link;

	private final ThreadPoolExecutor thread;

	private volatile boolean closed;

	/**
	 * Takes a client that the caller closes, and that is not replaced.
	 */
	EtcdConnection(Client client, Duration timeout) {
		this(client, null, timeout, Duration.ZERO);
	}

	/**
	 * Takes clients that are closed with this connection, or when they are replaced.
	 * @param clients called at once and for each replacement
	 * @param patience for how long requests fail before the client is replaced
	 */
	EtcdConnection(Supplier<Client> clients, Duration timeout, Duration patience) {
		this(clients.get(), clients, timeout, patience);
	}

	private EtcdConnection(Client client, @Nullable Supplier<Client> clients, Duration timeout, Duration patience) {
		this.clients = clients;
		this.timeoutMillis = timeout.toMillis();
		this.patienceNanos = patience.toNanos();
		this.link = new AtomicReference<>(new Link(client));
		this.thread = new ThreadPoolExecutor(1, 1, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>(),
				new DaemonThreadFactory("lock-etcd-connect"));
		this.thread.allowCoreThreadTimeOut(true);
	}

	/**
	 * Sends a request.
	 * @return fails with {@link LockUnavailableException}
	 */
	<T> CompletionStage<T> send(Function<Client, CompletableFuture<T>> request) {
		return send(request, this.timeoutMillis);
	}

	<T> CompletionStage<T> send(Function<Client, CompletableFuture<T>> request, long timeoutMillis) {
		return sendOver((link) -> request.apply(link.client()), timeoutMillis);
	}

	private <T> CompletionStage<T> sendOver(Function<Link, CompletableFuture<T>> request, long timeoutMillis) {
		Link link = this.link.get();
		// an answer that is late is one
		return begin(request, link).whenComplete((value, ex) -> {
			if (ex == null || !EtcdErrors.isSilence(ex)) {
				link.answered();
			}
		})
			.copy()
			.orTimeout(timeoutMillis, TimeUnit.MILLISECONDS)
			.handle((value, ex) -> (ex == null) ? CompletableFuture.completedFuture(value) : this.<T>failed(link, ex))
			.thenCompose(Function.identity());
	}

	private static <T> CompletableFuture<T> begin(Function<Link, CompletableFuture<T>> request, Link link) {
		try {
			return request.apply(link);
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	private <T> CompletableFuture<T> failed(Link link, Throwable failure) {
		if (this.clients != null && EtcdErrors.isSilence(failure) && link.isSilentFor(this.patienceNanos)) {
			this.thread.execute(() -> replace(link, this.clients));
		}
		return CompletableFuture.failedFuture(EtcdErrors.unavailable(failure));
	}

	private void replace(Link silent, Supplier<Client> clients) {
		if (this.link.get() != silent || this.closed) {
			return;
		}
		logger.debug("No answer from etcd: connects with a new client");
		Link next;
		try {
			next = new Link(clients.get());
		}
		catch (RuntimeException ex) {
			logger.warn("No new client of etcd can be made, so the present one goes on", ex);
			return;
		}
		(this.link.compareAndSet(silent, next) ? silent : next).close();
		if (this.closed) {
			next.close();
		}
	}

	/**
	 * Watches a key. Only a watch without a revision is told of changes at once: one that
	 * begins in the past waits until the server has read what has happened since, which
	 * it does ten times a second.
	 * @param gone called once when the key was deleted or when the watch ends, if it has
	 * begun
	 * @return what ends the watch, which is there when changes from then on count; fails
	 * with {@link LockUnavailableException}
	 */
	CompletionStage<Runnable> watch(ByteSequence name, Runnable gone) {
		CompletableFuture<Runnable> begun = new CompletableFuture<>();
		CompletableFuture<@Nullable Void> ended = new CompletableFuture<>();
		Runnable end = () -> ended.cancel(false);
		ended.thenRun(gone);
		WatchOption option = WatchOption.builder().withCreateNotify(true).withNoPut(true).build();
		return sendOver((link) -> {
			Watch.Watcher watcher = link.watch((watches) -> watches.watch(name, option, (response) -> {
				if (response.isCreatedNotify()) {
					begun.complete(end);
				}
				if (response.getEvents().stream().anyMatch((event) -> event.getEventType() == EventType.DELETE)) {
					ended.complete(null);
				}
			}, (ex) -> this.thread.execute(() -> end(begun, ended, ex)),
					() -> this.thread.execute(() -> end(begun, ended, new TimeoutException("The watch was closed")))));
			// on another thread: the client's own may not wait for itself
			ended.whenCompleteAsync((done, ex) -> watcher.close(), this.thread);
			return begun;
		}, this.timeoutMillis).whenComplete((ending, ex) -> {
			if (ex != null) {
				end.run();
			}
		});
	}

	/** A watch that has not begun has failed; nothing else is told then. */
	private static void end(CompletableFuture<Runnable> begun, CompletableFuture<@Nullable Void> ended, Throwable ex) {
		begun.completeExceptionally(ex);
		ended.complete(null);
	}

	/** Closes the client, if it is this object's own. */
	@Override
	public void close() {
		this.closed = true;
		if (this.clients != null) {
			this.link.get().close();
		}
	}

	/**
	 * A client, and since when it has had no answer.
	 */
	private static final class Link {

		private static final long NOT_SILENT = 0;

		private final Client client;

		private final AtomicLong silentSince = new AtomicLong(NOT_SILENT);

		private boolean closed;

		Link(Client client) {
			this.client = client;
		}

		Client client() {
			return this.client;
		}

		void answered() {
			if (this.silentSince.get() != NOT_SILENT) {
				this.silentSince.set(NOT_SILENT);
			}
		}

		/**
		 * Returns whether no request has had an answer for so long, and begins to count
		 * anew if so.
		 */
		boolean isSilentFor(long nanos) {
			long now = System.nanoTime() | 1;
			long since = this.silentSince.get();
			if (since == NOT_SILENT) {
				this.silentSince.compareAndSet(NOT_SILENT, now);
				return false;
			}
			return now - since >= nanos && this.silentSince.compareAndSet(since, now);
		}

		synchronized Watch.Watcher watch(Function<Watch, Watch.Watcher> watch) {
			if (this.closed) {
				throw new LockUnavailableException("The client of etcd was closed");
			}
			return watch.apply(this.client.getWatchClient());
		}

		void close() {
			synchronized (this) {
				if (this.closed) {
					return;
				}
				this.closed = true;
			}
			this.client.close();
		}

	}

}
