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
 * Sends requests through a client. If requests get no reply for some time, a client of
 * the store's own is replaced: after an outage, gRPC may wait as long as the outage
 * lasted before it reconnects, while a new client connects immediately. Thread-safe.
 */
/*
 * For maintainers: failures arrive on threads of the client and of timers, which must not
 * block, so a thread of this connection replaces the client. A request that begins on a
 * closing client fails. A watch must not begin on one, since a closed client would start
 * threads for it. So watches begin, and links close, under the monitor of the link.
 * Inside it the client takes a lock of its own, which it also holds when it calls
 * listeners. So the end of a watch, unlike its event, is handled on the thread of this
 * connection. This thread is never shut down, since a failing listener would prevent the
 * client from closing the rest; it ends when it is idle.
 */
final class EtcdConnection implements AutoCloseable {

	/** The shortest time between two replacements. */
	static final Duration PATIENCE = Duration.ofSeconds(5);

	private static final Logger logger = LoggerFactory.getLogger(EtcdConnection.class);

	private final @Nullable Supplier<Client> clients;

	private final long timeoutMillis;

	private final long patienceNanos;

	private final long connectNanos;

	private final AtomicReference<Link> link;

	private final ThreadPoolExecutor thread;

	/** Whether a server has ever replied: then its client needs less time. */
	private volatile boolean connected;

	private volatile boolean closed;

	/**
	 * Uses a client that the caller closes, and never replaces it.
	 */
	EtcdConnection(Client client, Duration timeout) {
		this(client, null, timeout, Duration.ZERO, Duration.ZERO);
	}

	/**
	 * Uses clients of its own, closed when they are replaced or with this connection.
	 * @param clients creates the first client and each replacement
	 * @param patience how long requests fail before the client is replaced
	 * @param connectTimeout how long they fail before the first reply, if that is longer
	 */
	EtcdConnection(Supplier<Client> clients, Duration timeout, Duration patience, Duration connectTimeout) {
		this(clients.get(), clients, timeout, patience, connectTimeout);
	}

	private EtcdConnection(Client client, @Nullable Supplier<Client> clients, Duration timeout, Duration patience,
			Duration connectTimeout) {
		this.clients = clients;
		this.timeoutMillis = timeout.toMillis();
		this.patienceNanos = patience.toNanos();
		this.connectNanos = Math.max(patience.toNanos(), connectTimeout.toNanos());
		this.link = new AtomicReference<>(new Link(client));
		this.thread = new ThreadPoolExecutor(1, 1, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>(),
				new DaemonThreadFactory("lock-etcd-connect"));
		this.thread.allowCoreThreadTimeOut(true);
	}

	/**
	 * Sends a request.
	 * @return a stage that fails with {@link LockUnavailableException}
	 */
	<T> CompletionStage<T> send(Function<Client, CompletableFuture<T>> request) {
		return sendOver((link) -> request.apply(link.client()));
	}

	private <T> CompletionStage<T> sendOver(Function<Link, CompletableFuture<T>> request) {
		Link link = this.link.get();
		// late replies count, too
		return begin(request, link).whenComplete((value, ex) -> {
			if (ex == null || !EtcdErrors.isSilence(ex)) {
				link.replied();
				this.connected = true;
			}
		})
			.copy()
			.orTimeout(this.timeoutMillis, TimeUnit.MILLISECONDS)
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
		if (this.clients != null && EtcdErrors.isSilence(failure) && link.isSilentFor(patience())) {
			this.thread.execute(() -> replace(link, this.clients));
		}
		return CompletableFuture.failedFuture(EtcdErrors.unavailable(failure));
	}

	private long patience() {
		return this.connected ? this.patienceNanos : this.connectNanos;
	}

	private void replace(Link silent, Supplier<Client> clients) {
		if (this.link.get() != silent || this.closed) {
			return;
		}
		logger.debug("No reply from etcd, connecting with a new client");
		Link next;
		try {
			next = new Link(clients.get());
		}
		catch (RuntimeException ex) {
			logger.warn("A new client of etcd cannot be created, so the present one stays in use", ex);
			return;
		}
		(this.link.compareAndSet(silent, next) ? silent : next).close();
		if (this.closed) {
			next.close();
		}
	}

	/**
	 * Watches a key from now on. A watch from an earlier revision would be slower, since
	 * the server reads past changes only ten times a second.
	 * @param gone called once when the key was deleted, or when a watch that has begun
	 * ends
	 * @return a stage that completes when the watch has begun, with an action that ends
	 * it; fails with {@link LockUnavailableException}
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
			// on another thread, since the client's own must not wait for itself
			ended.whenCompleteAsync((done, ex) -> watcher.close(), this.thread);
			return begun;
		}).whenComplete((ending, ex) -> {
			if (ex != null) {
				end.run();
			}
		});
	}

	/** Ends a watch, which has failed if it has not begun. */
	private static void end(CompletableFuture<Runnable> begun, CompletableFuture<@Nullable Void> ended, Throwable ex) {
		begun.completeExceptionally(ex);
		ended.complete(null);
	}

	/** Closes the client, if this object owns it. */
	@Override
	public void close() {
		this.closed = true;
		if (this.clients != null) {
			this.link.get().close();
		}
	}

	/**
	 * A client, and the time of the first failure since its last reply.
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

		void replied() {
			if (this.silentSince.get() != NOT_SILENT) {
				this.silentSince.set(NOT_SILENT);
			}
		}

		/**
		 * Returns whether no request has had a reply for that long. If so, starts
		 * counting again.
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
