package io.github.lockspring.history;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

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
 * Writes down when a store gives a lock, before the engine hears of it. Holders cannot
 * say that: one may get the lock from another one of its process, and that one may never
 * have worked under it.
 */
final class RecordingStore implements LockStore {

	private final LockStore store;

	private final EventLog events;

	/** When each token that may be granted by a message was asked for first. */
	private final Map<OwnerToken, Long> asked = new ConcurrentHashMap<>();

	RecordingStore(LockStore store, EventLog events) {
		this.store = store;
		this.events = events;
	}

	@Override
	public AcquireAnswer acquire(AcquireQuestion question, Duration timeout) {
		long asked = System.nanoTime();
		if (question.look() != AcquireQuestion.Look.ONCE) {
			this.asked.putIfAbsent(question.token(), asked);
		}
		AcquireAnswer answer = this.store.acquire(question, timeout);
		if (answer instanceof AcquireAnswer.Acquired acquired) {
			this.events.acquired(question.key(), acquired.fence(), asked, question.ttl());
		}
		return answer;
	}

	@Override
	public ReleaseAnswer release(ReleaseQuestion question, Duration timeout) {
		this.asked.remove(question.token());
		return this.store.release(question, timeout);
	}

	@Override
	public List<RenewAnswer> renew(List<RenewQuestion> questions, Duration timeout) {
		return this.store.renew(questions, timeout);
	}

	@Override
	public String lane(String key) {
		return this.store.lane(key);
	}

	@Override
	public Optional<Inbox> inbox(String instance, InboxListener listener) {
		return this.store.inbox(instance, new InboxListener() {

			@Override
			public void granted(String key, OwnerToken token, long fence, boolean othersWait) {
				Long asked = RecordingStore.this.asked.get(token);
				if (asked != null) {
					RecordingStore.this.events.acquired(key, fence, asked, Duration.ofMillis(token.grantMillis()));
				}
				listener.granted(key, token, fence, othersWait);
			}

			@Override
			public void wanted(String key, OwnerToken token) {
				listener.wanted(key, token);
			}

			@Override
			public void opened() {
				listener.opened();
			}

		});
	}

	@Override
	public void close() {
		this.store.close();
	}

}
