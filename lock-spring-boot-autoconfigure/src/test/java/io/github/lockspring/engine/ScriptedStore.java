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
import io.github.lockspring.store.AcquireAnswer;
import io.github.lockspring.store.AcquireQuestion;
import io.github.lockspring.store.Inbox;
import io.github.lockspring.store.InboxListener;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.ReleaseAnswer;
import io.github.lockspring.store.ReleaseQuestion;
import io.github.lockspring.store.RenewAnswer;
import io.github.lockspring.store.RenewQuestion;
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
	 * @param question what was asked
	 * @param answer to be completed by the test
	 */
	record Asked(AcquireQuestion question, CompletableFuture<AcquireAnswer> answer) {

		OwnerToken token() {
			return this.question.token();
		}

		void acquired(long fence) {
			this.answer.complete(new AcquireAnswer.Acquired(fence));
		}

		void busy(Duration remaining, long fenceSeen) {
			this.answer.complete(new AcquireAnswer.Busy(remaining.toMillis(), fenceSeen));
		}

		void fails() {
			this.answer.completeExceptionally(new LockUnavailableException("no answer"));
		}

	}

	private final BlockingQueue<Asked> asked = new LinkedBlockingQueue<>();

	final List<AcquireQuestion> looks = new CopyOnWriteArrayList<>();

	final List<ReleaseQuestion> released = new CopyOnWriteArrayList<>();

	final List<List<RenewQuestion>> renewed = new CopyOnWriteArrayList<>();

	volatile @Nullable Function<AcquireQuestion, AcquireAnswer> onAcquire;

	volatile Function<ReleaseQuestion, ReleaseAnswer> onRelease = (question) -> new ReleaseAnswer.Released();

	volatile Function<RenewQuestion, RenewAnswer> onRenew = (question) -> RenewAnswer.RENEWED;

	volatile boolean inboxConfirmed = true;

	volatile int inboxOpened;

	volatile int inboxDoubted;

	@Nullable InboxListener listener;

	@Override
	public AcquireAnswer acquire(AcquireQuestion question, Duration timeout) {
		this.looks.add(question);
		Function<AcquireQuestion, AcquireAnswer> answering = this.onAcquire;
		if (answering != null) {
			return answering.apply(question);
		}
		Asked ask = new Asked(question, new CompletableFuture<>());
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
		AtomicLong fence = new AtomicLong();
		this.onAcquire = (question) -> new AcquireAnswer.Acquired(fence.incrementAndGet());
	}

	/** From now on looks wait for the test's answer again. */
	void byHand() {
		this.onAcquire = null;
	}

	boolean isAsked() {
		return !this.asked.isEmpty();
	}

	@Override
	public ReleaseAnswer release(ReleaseQuestion question, Duration timeout) {
		this.released.add(question);
		return this.onRelease.apply(question);
	}

	List<OwnerToken> releasedTokens() {
		return this.released.stream().map(ReleaseQuestion::token).toList();
	}

	@Override
	public List<RenewAnswer> renew(List<RenewQuestion> questions, Duration timeout) {
		this.renewed.add(List.copyOf(questions));
		List<RenewAnswer> answers = new ArrayList<>();
		questions.forEach((question) -> answers.add(this.onRenew.apply(question)));
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
			public void doubt() {
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
