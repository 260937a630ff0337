package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import java.util.function.Function;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.Inbox;
import io.github.lockspring.store.InboxListener;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.StoreTraits;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A store that records requests and answers them with functions, which a test may replace
 * at any time. Without a function for them, acquisitions wait for the test's answer.
 * Thread-safe.
 */
public class ScriptedStore implements LockStore {

	private static final Duration TIMEOUT = Duration.ofSeconds(20);

	/**
	 * A look that waits for its answer.
	 *
	 * @param request what was asked
	 * @param answer to be completed by the test
	 */
	record Asked(AcquireRequest request, CompletableFuture<AcquireResult> answer) {

		OwnerToken token() {
			return this.request.token();
		}

		void acquired(long fencingToken) {
			this.answer.complete(new AcquireResult.Acquired(fencingToken));
		}

		void busy(Duration remaining, long lastFencingToken) {
			this.answer.complete(new AcquireResult.Busy(remaining.toMillis(), lastFencingToken));
		}

		void fails() {
			this.answer.completeExceptionally(new LockUnavailableException("no answer"));
		}

	}

	private final BlockingQueue<Asked> asked = new LinkedBlockingQueue<>();

	/** What this store claims to be like. */
	public volatile StoreTraits traits = StoreTraits.exact();

	/** The acquisitions that were requested. */
	public final List<AcquireRequest> looks = new CopyOnWriteArrayList<>();

	/** The releases that were requested. */
	public final List<ReleaseRequest> released = new CopyOnWriteArrayList<>();

	/** The renewals that were requested. */
	public final List<List<RenewRequest>> renewed = new CopyOnWriteArrayList<>();

	/** Answers acquisitions; null: the test does. */
	public volatile @Nullable Function<AcquireRequest, AcquireResult> onAcquire;

	/** Answers releases. */
	public volatile Function<ReleaseRequest, ReleaseResult> onRelease = (request) -> new ReleaseResult.Released();

	/** Answers releases that are not waited for; null: the store cannot do that. */
	public volatile @Nullable Function<ReleaseRequest, CompletionStage<ReleaseResult>> onReleaseAsync;

	/** Answers renewals. */
	public volatile Function<RenewRequest, RenewResult> onRenew = (request) -> RenewResult.RENEWED;

	/** Connects. */
	public volatile Runnable onConnect = () -> {
	};

	/** Called when an inbox is probed. */
	volatile Runnable onProbe = () -> {
	};

	/** Called by those who wait for a connection. */
	public volatile Runnable onAwaitConnection = () -> {
	};

	private BiFunction<String, InboxListener, Optional<Inbox>> onInbox = (instance, listener) -> Optional
		.of(new ScriptedInbox());

	volatile boolean inboxConfirmed = true;

	/** Whether there is a queue; to be set before the engine is created. */
	volatile boolean hasInbox = true;

	volatile int inboxOpened;

	volatile boolean inboxOpen = true;

	volatile int inboxDoubted;

	volatile int inboxClosed;

	/** Called when an inbox is opened. */
	volatile Runnable onOpenInbox = () -> {
	};

	/** The instances that inboxes were created for. */
	final List<String> inboxes = new CopyOnWriteArrayList<>();

	@Nullable InboxListener listener;

	/** Creates a store whose acquisitions wait for the test's answer. */
	public ScriptedStore() {
	}

	/** Creates a store that passes everything on to the given one. */
	public ScriptedStore(LockStore locks) {
		this.onAcquire = (request) -> locks.acquire(request, TIMEOUT);
		this.onRelease = (request) -> locks.release(request, TIMEOUT);
		this.onRenew = (request) -> locks.renew(List.of(request), TIMEOUT).get(0);
		this.onInbox = locks::inbox;
	}

	/** Called when a request was recorded, before it is answered. */
	void beforeAnswer(Duration timeout) {
	}

	@Override
	public void connect() {
		this.onConnect.run();
	}

	@Override
	public void awaitConnection() {
		this.onAwaitConnection.run();
	}

	@Override
	public StoreTraits traits() {
		return this.traits;
	}

	@Override
	public AcquireResult acquire(AcquireRequest request, Duration timeout) {
		this.looks.add(request);
		beforeAnswer(timeout);
		Function<AcquireRequest, AcquireResult> answering = this.onAcquire;
		if (answering != null) {
			return answering.apply(request);
		}
		Asked ask = new Asked(request, new CompletableFuture<>());
		this.asked.add(ask);
		try {
			return ask.answer.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new LockUnavailableException("interrupted", ex);
		}
		catch (ExecutionException | TimeoutException ex) {
			ReflectionUtils.rethrowRuntimeException((ex.getCause() != null) ? ex.getCause() : ex);
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Waits for the next look.
	 */
	Asked nextLook() {
		try {
			Asked next = this.asked.poll(10, TimeUnit.SECONDS);
			assertThat(next).as("a look").isNotNull();
			return next;
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** From now on every lock is free. */
	void free() {
		AtomicLong fencingToken = new AtomicLong();
		this.onAcquire = (request) -> new AcquireResult.Acquired(fencingToken.incrementAndGet());
	}

	boolean isAsked() {
		return !this.asked.isEmpty();
	}

	@Override
	public ReleaseResult release(ReleaseRequest request, Duration timeout) {
		this.released.add(request);
		beforeAnswer(timeout);
		return this.onRelease.apply(request);
	}

	@Override
	public Optional<CompletionStage<ReleaseResult>> releaseAsync(ReleaseRequest request) {
		Function<ReleaseRequest, CompletionStage<ReleaseResult>> answering = this.onReleaseAsync;
		if (answering == null) {
			return Optional.empty();
		}
		this.released.add(request);
		return Optional.of(answering.apply(request));
	}

	List<OwnerToken> releasedTokens() {
		return this.released.stream().map(ReleaseRequest::token).toList();
	}

	@Override
	public List<RenewResult> renew(List<RenewRequest> requests, Duration timeout) {
		this.renewed.add(List.copyOf(requests));
		beforeAnswer(timeout);
		return requests.stream().map((request) -> this.onRenew.apply(request)).toList();
	}

	@Override
	public Optional<Inbox> inbox(String instance, InboxListener listener) {
		this.inboxes.add(instance);
		this.listener = listener;
		return this.hasInbox ? this.onInbox.apply(instance, listener) : Optional.empty();
	}

	InboxListener messages() {
		InboxListener present = this.listener;
		assertThat(present).isNotNull();
		return present;
	}

	@Override
	public void close() {
	}

	private final class ScriptedInbox implements Inbox {

		@Override
		public void open() {
			ScriptedStore.this.inboxOpened++;
			ScriptedStore.this.onOpenInbox.run();
		}

		@Override
		public boolean isOpen() {
			return ScriptedStore.this.inboxOpen;
		}

		@Override
		public boolean isConfirmed() {
			return ScriptedStore.this.inboxConfirmed;
		}

		@Override
		public void probe() {
			ScriptedStore.this.inboxDoubted++;
			ScriptedStore.this.onProbe.run();
		}

		@Override
		public void close() {
			ScriptedStore.this.inboxClosed++;
		}

	}

}
