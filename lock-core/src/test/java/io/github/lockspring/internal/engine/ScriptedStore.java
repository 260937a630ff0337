package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.Stages;
import io.github.lockspring.store.Inbox;
import io.github.lockspring.store.InboxListener;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.StoreTraits;
import org.jspecify.annotations.Nullable;

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

		void acquired(long fencingToken, Duration lease) {
			this.answer.complete(new AcquireResult.Acquired(fencingToken, lease));
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

	/** Answers releases later; null: {@link #onRelease} answers them at once. */
	public volatile @Nullable Function<ReleaseRequest, CompletionStage<ReleaseResult>> onReleaseAsync;

	/** Answers renewals. */
	public volatile Function<RenewRequest, RenewResult> onRenew = (request) -> RenewResult.RENEWED;

	/** Connects. */
	public volatile Supplier<CompletionStage<@Nullable Void>> onConnect = () -> CompletableFuture.completedFuture(null);

	private BiFunction<String, InboxListener, Optional<Inbox>> onInbox = (instance, listener) -> Optional
		.of(new ScriptedInbox());

	volatile boolean inboxConfirmed = true;

	/** Whether there is a queue; to be set before the engine is created. */
	volatile boolean hasInbox = true;

	volatile int inboxOpened;

	volatile boolean inboxOpen = true;

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
		this.onAcquire = (request) -> Stages.join(locks.acquire(request, TIMEOUT), TIMEOUT);
		this.onRelease = (request) -> Stages.join(locks.release(request, TIMEOUT), TIMEOUT);
		this.onRenew = (request) -> Stages.join(locks.renew(List.of(request), TIMEOUT), TIMEOUT).get(0);
		this.onInbox = locks::inbox;
	}

	/** Called when a request was recorded, before it is answered. */
	void beforeAnswer(Duration timeout) {
	}

	@Override
	public CompletionStage<@Nullable Void> connected() {
		return this.onConnect.get();
	}

	@Override
	public StoreTraits traits() {
		return this.traits;
	}

	@Override
	public CompletionStage<AcquireResult> acquire(AcquireRequest request, Duration timeout) {
		this.looks.add(request);
		beforeAnswer(timeout);
		Function<AcquireRequest, AcquireResult> answering = this.onAcquire;
		if (answering != null) {
			return Stages.call(() -> answering.apply(request));
		}
		Asked ask = new Asked(request, new CompletableFuture<>());
		this.asked.add(ask);
		return ask.answer;
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

	/** From now on no release has an answer. */
	void failReleases() {
		this.onRelease = (request) -> {
			throw new LockUnavailableException("no answer");
		};
	}

	/** From now on releases are carried out. */
	void answerReleases() {
		this.onRelease = (request) -> new ReleaseResult.Released();
	}

	/** From now on the test answers releases. */
	Queue<CompletableFuture<ReleaseResult>> holdReleases() {
		Queue<CompletableFuture<ReleaseResult>> answers = new ConcurrentLinkedQueue<>();
		this.onReleaseAsync = (request) -> {
			CompletableFuture<ReleaseResult> answer = new CompletableFuture<>();
			answers.add(answer);
			return answer;
		};
		return answers;
	}

	/** From now on no renewal has an answer. */
	void failRenewals() {
		this.onRenew = (request) -> {
			throw new LockUnavailableException("no answer");
		};
	}

	boolean isAsked() {
		return !this.asked.isEmpty();
	}

	@Override
	public CompletionStage<ReleaseResult> release(ReleaseRequest request, Duration timeout) {
		this.released.add(request);
		Function<ReleaseRequest, CompletionStage<ReleaseResult>> later = this.onReleaseAsync;
		if (later != null) {
			return later.apply(request);
		}
		return Stages.call(() -> {
			beforeAnswer(timeout);
			return this.onRelease.apply(request);
		});
	}

	List<OwnerToken> releasedTokens() {
		return this.released.stream().map(ReleaseRequest::token).toList();
	}

	@Override
	public CompletionStage<List<RenewResult>> renew(List<RenewRequest> requests, Duration timeout) {
		this.renewed.add(List.copyOf(requests));
		return Stages.call(() -> {
			beforeAnswer(timeout);
			return requests.stream().map((request) -> this.onRenew.apply(request)).toList();
		});
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
		public void close() {
			ScriptedStore.this.inboxClosed++;
		}

	}

}
