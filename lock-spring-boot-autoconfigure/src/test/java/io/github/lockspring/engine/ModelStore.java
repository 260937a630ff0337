package io.github.lockspring.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

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

/**
 * Store of a model: answers at once, so that every question is one step. Leases do not
 * run out by themselves here; whoever takes a lock away says so by {@link #rob}.
 */
final class ModelStore implements LockStore {

	private final Map<String, OwnerToken> owners = new ConcurrentHashMap<>();

	private final AtomicLong fence = new AtomicLong();

	/** Releases that found the lock theirs. */
	final AtomicInteger released = new AtomicInteger();

	volatile RenewAnswer renewAnswer = RenewAnswer.RENEWED;

	@Override
	public AcquireAnswer acquire(AcquireQuestion question, Duration timeout) {
		OwnerToken owner = this.owners.putIfAbsent(question.key(), question.token());
		if (owner == null || owner.equals(question.token())) {
			return new AcquireAnswer.Acquired(this.fence.addAndGet(10_000));
		}
		return new AcquireAnswer.Busy(30_000, this.fence.get());
	}

	@Override
	public ReleaseAnswer release(ReleaseQuestion question, Duration timeout) {
		if (this.owners.remove(question.key(), question.token())) {
			this.released.incrementAndGet();
			return new ReleaseAnswer.Released();
		}
		return new ReleaseAnswer.NotOwner(this.fence.get());
	}

	@Override
	public List<RenewAnswer> renew(List<RenewQuestion> questions, Duration timeout) {
		RenewAnswer answer = this.renewAnswer;
		List<RenewAnswer> answers = new ArrayList<>();
		questions.forEach((question) -> answers.add(answer));
		return answers;
	}

	boolean isFree(String key) {
		return !this.owners.containsKey(key);
	}

	/**
	 * The lock is gone, and somebody else may have had it.
	 * @return whether it was there
	 */
	boolean rob(String key) {
		this.fence.addAndGet(10_000);
		return this.owners.remove(key) != null;
	}

	@Override
	public Optional<Inbox> inbox(String instance, InboxListener listener) {
		return Optional.of(new Inbox() {

			@Override
			public void open() {
			}

			@Override
			public boolean isConfirmed() {
				return true;
			}

			@Override
			public void doubt() {
			}

			@Override
			public void close() {
			}

		});
	}

	@Override
	public void close() {
	}

}
