package io.github.lockspring.transaction;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.AcquireAnswer;
import io.github.lockspring.store.AcquireQuestion;
import io.github.lockspring.store.Inbox;
import io.github.lockspring.store.InboxListener;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.MemoryLockStore;
import io.github.lockspring.store.ReleaseAnswer;
import io.github.lockspring.store.ReleaseQuestion;
import io.github.lockspring.store.RenewAnswer;
import io.github.lockspring.store.RenewQuestion;

/**
 * Locks in memory that count what they are asked, and can be lost.
 */
final class CountingStore implements LockStore {

	private final LockStore locks = new MemoryLockStore();

	final AtomicInteger looks = new AtomicInteger();

	final AtomicInteger renewals = new AtomicInteger();

	final AtomicInteger releases = new AtomicInteger();

	volatile boolean lost;

	volatile boolean silent;

	@Override
	public AcquireAnswer acquire(AcquireQuestion question, Duration timeout) {
		this.looks.incrementAndGet();
		return this.locks.acquire(question, timeout);
	}

	@Override
	public ReleaseAnswer release(ReleaseQuestion question, Duration timeout) {
		this.releases.incrementAndGet();
		return this.locks.release(question, timeout);
	}

	@Override
	public List<RenewAnswer> renew(List<RenewQuestion> questions, Duration timeout) {
		this.renewals.addAndGet(questions.size());
		if (this.silent) {
			throw new LockUnavailableException("no answer");
		}
		if (this.lost) {
			return questions.stream().map((question) -> RenewAnswer.NOT_OWNER).toList();
		}
		return this.locks.renew(questions, timeout);
	}

	@Override
	public Optional<Inbox> inbox(String instance, InboxListener listener) {
		return this.locks.inbox(instance, listener);
	}

	@Override
	public void close() {
		this.locks.close();
	}

}
