package io.github.lockspring.internal.engine;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongConsumer;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.engine.support.StoreClient;
import io.github.lockspring.internal.engine.support.Time;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.OwnerToken;
import org.jspecify.annotations.Nullable;

/**
 * The releases that have not been answered. Each is repeated every half second until it
 * is, or the lease that it ends is over: otherwise the lock would be busy for that long.
 * While the server of a shard does not answer, only one of its releases at a time is
 * repeated. Thread-safe.
 */
/*
 * For maintainers: a token is in here from before its claim is dropped, so that a message
 * about it is not taken for a message about an orphaned token. A round of the watchdog
 * looks at all of them, each under its own monitor: no caller waits for that.
 */
final class Releases {

	/** Between two looks at those of a silent server. */
	private static final long MIN_INTERVAL_NANOS = 50_000_000;

	/**
	 * With more than so many, callers wait for their own: a slow store slows them down.
	 */
	private static final int MAX_UNDER_WAY = 1_000;

	private final StoreClient client;

	private final Time time;

	private final LongConsumer due;

	private final Map<OwnerToken, Release> unanswered = new ConcurrentHashMap<>();

	/**
	 * Creates an instance without any releases.
	 * @param due receives the time at which {@link #tick} has something to do
	 */
	Releases(StoreClient client, Time time, LongConsumer due) {
		this.client = client;
		this.time = time;
		this.due = due;
	}

	/**
	 * Registers a release, to be sent next. If one of the same token is not answered yet,
	 * that one is sent once more instead, and the lock is not informed: only one that is
	 * Releasing needs that, and its release is the first of its token.
	 * @param lock informed when the first try is over, or null
	 * @param until when the lease that it ends is over
	 */
	Release register(ReleaseRequest request, @Nullable KeyLock lock, long until) {
		Release release = new Release(request, lock, this.time.nanoTime(), until);
		Release present = this.unanswered.putIfAbsent(request.token(), release);
		if (present == null) {
			return release;
		}
		present.prolong(until);
		present.repeat();
		return present;
	}

	/** For tests. */
	@Nullable Release registered(OwnerToken token) {
		return this.unanswered.get(token);
	}

	/**
	 * A message shows that the store has a token: its release is tried again at once,
	 * unless a try is under way, and is not given up before the given time.
	 * @return whether there is one
	 */
	boolean prolong(OwnerToken token, long until) {
		Release present = this.unanswered.get(token);
		if (present != null) {
			present.prolong(until);
			// the first try is its holder's; a later one need not wait for its turn
			if (present.tries() > 0) {
				send(present, false);
			}
		}
		return present != null;
	}

	boolean isEmpty() {
		return this.unanswered.isEmpty();
	}

	int size() {
		return this.unanswered.size();
	}

	/** Whether all have failed repeatedly, and none is on its way. */
	boolean areHopeless() {
		return this.unanswered.values().stream().allMatch(Release::isHopeless);
	}

	/** Whether callers have to wait for their releases. */
	boolean isFull() {
		return this.unanswered.size() > MAX_UNDER_WAY;
	}

	/**
	 * Sends a release, unless it is on its way.
	 * @param mayBlock whether the driver may block the present thread
	 */
	void send(Release release, boolean mayBlock) {
		long end = this.time.nanoTime() + this.client.commandTimeout().toNanos();
		int number = release.begin(end);
		if (number > 0) {
			this.due.accept(end);
			this.client.release(release.key(), () -> release.request(this.time.nanoTime()), mayBlock,
					(result, failure) -> answered(release, number, result, failure));
		}
	}

	private void answered(Release release, int number, @Nullable ReleaseResult result,
			@Nullable LockUnavailableException failure) {
		long now = this.time.nanoTime();
		if (result == null) {
			failed(release, number, failure, now);
			return;
		}
		int tries = release.tries();
		if (release.answered(number)) {
			this.unanswered.remove(release.token(), release);
		}
		else {
			send(release, false);
		}
		tryIsOver(release, now, (result instanceof ReleaseResult.NotOwner notOwner)
				? ReleaseResult.NotOwner.of(notOwner.fencingToken(), tries) : result, null);
	}

	private void failed(Release release, int number, @Nullable LockUnavailableException failure, long now) {
		release.failed(number, now);
		this.due.accept(now + Release.INTERVAL_NANOS);
		tryIsOver(release, now, null, failure);
	}

	/** Only the first call says something new. */
	private void tryIsOver(Release release, long now, @Nullable ReleaseResult result,
			@Nullable LockUnavailableException failure) {
		// the lock first: a holder that goes on may ask for it again at once
		if (!release.firstTry().isDone() && release.lock() != null) {
			release.lock().released(release.token(), now);
		}
		if (result != null) {
			release.firstTry().complete(result);
		}
		else {
			release.firstTry().completeExceptionally(failure);
		}
	}

	/**
	 * Repeats what is due.
	 * @return when something is due next
	 */
	long tick(long now) {
		Set<String> asked = new HashSet<>();
		for (Release release : this.unanswered.values()) {
			if (release.isUnderWay()) {
				asked.add(shard(release));
			}
		}
		long next = now + Time.FOREVER;
		for (Release release : this.unanswered.values()) {
			if (release.isDue(now)) {
				tick(release, asked, now);
			}
			next = Time.earlier(next, Time.later(release.next(), now + MIN_INTERVAL_NANOS));
		}
		return next;
	}

	/**
	 * Ends a try without an answer, or begins the next one.
	 * @param asked the shards to which a release is on its way
	 */
	private void tick(Release release, Set<String> asked, long now) {
		if (release.isUnderWay()) {
			failed(release, release.tries(), this.client.noteUnanswered(release.key()), now);
		}
		else if (release.isOver(now)) {
			this.unanswered.remove(release.token(), release);
			tryIsOver(release, now, null, new LockUnavailableException("The lease that it ends is over"));
		}
		else {
			boolean alone = asked.add(shard(release));
			if (alone || !this.client.isSilent(shard(release))) {
				send(release, false);
			}
		}
	}

	private String shard(Release release) {
		return this.client.shard(release.key());
	}

}
