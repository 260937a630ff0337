package io.github.lockspring.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.AcquireRequest;
import io.github.lockspring.store.AcquireResult;
import io.github.lockspring.store.Inbox;
import io.github.lockspring.store.InboxListener;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.ReleaseRequest;
import io.github.lockspring.store.ReleaseResult;
import io.github.lockspring.store.RenewRequest;
import io.github.lockspring.store.RenewResult;
import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A store whose answers and messages are in a test's hand. Looks wait for the test's
 * answer unless a function answers them; releases and renewals are recorded and answered
 * by functions.
 */
final class ScriptedStore implements LockStore {

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

	final List<AcquireRequest> looks = new CopyOnWriteArrayList<>();

	final List<ReleaseRequest> released = new CopyOnWriteArrayList<>();

	final List<List<RenewRequest>> renewed = new CopyOnWriteArrayList<>();

	volatile @Nullable Function<AcquireRequest, AcquireResult> onAcquire;

	volatile Function<ReleaseRequest, ReleaseResult> onRelease = (request) -> new ReleaseResult.Released();

	volatile Function<RenewRequest, RenewResult> onRenew = (request) -> RenewResult.RENEWED;

	volatile boolean inboxConfirmed = true;

	volatile int inboxOpened;

	volatile int inboxDoubted;

	@Nullable InboxListener listener;

	@Override
	public AcquireResult acquire(AcquireRequest request, Duration timeout) {
		this.looks.add(request);
		Function<AcquireRequest, AcquireResult> answering = this.onAcquire;
		if (answering != null) {
			return answering.apply(request);
		}
		Asked ask = new Asked(request, new CompletableFuture<>());
		this.asked.add(ask);
		try {
			return ask.answer.get(20, TimeUnit.SECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new LockUnavailableException("interrupted", ex);
		}
		catch (java.util.concurrent.ExecutionException ex) {
			if (ex.getCause() instanceof Error error) {
				throw error;
			}
			throw (RuntimeException) ex.getCause();
		}
		catch (java.util.concurrent.TimeoutException ex) {
			throw new CompletionException(ex);
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

	/** From now on looks wait for the test's answer again. */
	void byHand() {
		this.onAcquire = null;
	}

	boolean isAsked() {
		return !this.asked.isEmpty();
	}

	@Override
	public ReleaseResult release(ReleaseRequest request, Duration timeout) {
		this.released.add(request);
		return this.onRelease.apply(request);
	}

	List<OwnerToken> releasedTokens() {
		return this.released.stream().map(ReleaseRequest::token).toList();
	}

	@Override
	public List<RenewResult> renew(List<RenewRequest> requests, Duration timeout) {
		this.renewed.add(List.copyOf(requests));
		List<RenewResult> answers = new ArrayList<>();
		requests.forEach((request) -> answers.add(this.onRenew.apply(request)));
		return answers;
	}

	@Override
	public Optional<Inbox> inbox(String instance, InboxListener listener) {
		this.listener = listener;
		return Optional.of(new Inbox() {

			@Override
			public void open() {
				ScriptedStore.this.inboxOpened++;
			}

			@Override
			public boolean isConfirmed() {
				return ScriptedStore.this.inboxConfirmed;
			}

			@Override
			public void probe() {
				ScriptedStore.this.inboxDoubted++;
			}

			@Override
			public void close() {
			}

		});
	}

	InboxListener messages() {
		InboxListener present = this.listener;
		assertThat(present).isNotNull();
		return present;
	}

	@Override
	public void close() {
	}

}
