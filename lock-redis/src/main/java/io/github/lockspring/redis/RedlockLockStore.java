package io.github.lockspring.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.redis.Voter.Reply;
import io.github.lockspring.store.AcquireResult;
import io.github.lockspring.store.AcquireResult.Acquired;
import io.github.lockspring.store.AcquireRequest;
import io.github.lockspring.store.Inbox;
import io.github.lockspring.store.InboxListener;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.ReleaseResult;
import io.github.lockspring.store.ReleaseResult.NotOwner;
import io.github.lockspring.store.ReleaseResult.Released;
import io.github.lockspring.store.ReleaseRequest;
import io.github.lockspring.store.RenewResult;
import io.github.lockspring.store.RenewRequest;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Locks on a majority of several independent Redis servers (Redis 6.2 or later, or
 * Valkey), known as Redlock. A minority of them may be down, slow, or may have lost its
 * data. A lock costs two rounds of one script each to all servers at once, a renewal and
 * a release one.
 * <p>
 * There is no queue, since several servers cannot hand a lock over at one moment: waiters
 * try again, with jitter.
 * <p>
 * What this rests on, beside a majority: that the servers' clocks, and the callers', run
 * at the same speed within {@link RedlockSettings#clockDrift()}, and that a server whose
 * data is lost is one that was restarted.
 * <p>
 * Thread-safe. Nothing connects before the first request. A request takes no longer than
 * its timeout and the command timeout of the settings; the timeout should be at most a
 * third of the ttl that is asked for.
 *
 * @see <a href=
 * "https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/">Distributed
 * Locks with Redis</a>
 */
public final class RedlockLockStore implements LockStore {

	/*
	 * What belongs to one acquisition is in its Ballot. Here are only the number of the
	 * last attempt and `open`: ballots that were won before all votes had come, so that
	 * the release of the lock can tell them that late votes are not wanted any more. They
	 * leave the map when the last vote has come, which is never later than the timeout of
	 * a node, or with the release.
	 */

	private static final Logger logger = LoggerFactory.getLogger(RedlockLockStore.class);

	/** Allowance for what is measured in milliseconds. */
	private static final long ROUNDING_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

	private static final long SHORTEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(4);

	private static final int MOST_TRIES = 4;

	/** A vote, its confirmation, and perhaps its withdrawal. */
	private static final int ROUNDS = 3;

	private final List<Voter> voters;

	private final int majority;

	private final RedlockSettings settings;

	private final RedlockRequests requests;

	private final LongSupplier nanoTime;

	private final RedlockRenewal renewal;

	private final AtomicLong attempts = new AtomicLong();

	private final Map<OwnerToken, Ballot> open = new ConcurrentHashMap<>();

	RedlockLockStore(List<Voter> voters, RedlockSettings settings, LongSupplier nanoTime) {
		this.voters = List.copyOf(voters);
		this.majority = voters.size() / 2 + 1;
		this.settings = settings;
		this.requests = new RedlockRequests(settings);
		this.renewal = new RedlockRenewal(this.voters, this.requests);
		this.nanoTime = nanoTime;
	}

	/**
	 * Makes a store. Does not connect.
	 * @param nodes the servers, at least three, an odd number
	 * @param settings the settings
	 * @return the store
	 * @throws IllegalArgumentException if the nodes are too few, of an even number, or if
	 * two of them have the same name
	 */
	public static RedlockLockStore create(List<RedlockNode> nodes, RedlockSettings settings) {
		if (nodes.size() < 3 || nodes.size() % 2 == 0) {
			throw new IllegalArgumentException("Redlock needs 3, 5 or another odd number of nodes, but there are "
					+ nodes.size() + ": a majority of an even number survives no more failures than of one less");
		}
		Set<String> names = new HashSet<>();
		for (RedlockNode node : nodes) {
			if (!names.add(node.name())) {
				throw new IllegalArgumentException(
						"Each node of Redlock is a server of its own, but there are two called " + node.name());
			}
		}
		List<Voter> voters = new ArrayList<>();
		for (RedlockNode node : nodes) {
			voters.add(new Voter(node.name(),
					ConnectionDeriver.derive(node.connectionFactory(), settings.commandTimeout()),
					settings.commandTimeout()));
		}
		return new RedlockLockStore(voters, settings, System::nanoTime);
	}

	@Override
	public AcquireResult acquire(AcquireRequest request, Duration timeout) {
		if (isTooLong(request.ttl())) {
			throw tooLong(request.ttl());
		}
		// whoever asks once more has not used what an earlier attempt got
		endLateVotes(request.token());
		long start = this.nanoTime.getAsLong();
		long limit = limit(timeout).toNanos();
		try {
			if (Thread.interrupted()) {
				throw new InterruptedException();
			}
			long sent = start;
			for (int tries = 1;; tries++) {
				Duration nodeTimeout = nodeTimeout(Duration.ofNanos((limit - (sent - start)) / ROUNDS));
				Duration firstTimeout = Duration.ofNanos(limit - (sent - start)).minus(nodeTimeout.multipliedBy(2));
				long attempt = this.attempts.incrementAndGet();
				Ballot ballot = new Ballot(this.voters, this.requests, request, attempt, nodeTimeout, firstTimeout,
						this.open);
				AcquireResult answer = hold(ballot, request, attempt, sent);
				if (answer != null) {
					return answer;
				}
				/*
				 * Those who asked at the same moment have split the votes, and all of
				 * them have taken theirs back. Whoever comes again first gets it: an
				 * attempt of somebody who does not wait should not fail because of that.
				 */
				long now = this.nanoTime.getAsLong();
				long window = Math.max(SHORTEST_PAUSE, 2 * (now - sent)) << tries;
				if (tries == MOST_TRIES || !ballot.isUndisturbed() || now - start + window > limit / 2) {
					return ballot.busy();
				}
				TimeUnit.NANOSECONDS.sleep(ThreadLocalRandom.current().nextLong(window));
				sent = this.nanoTime.getAsLong();
			}
		}
		catch (InterruptedException ex) {
			throw interrupted(ex);
		}
	}

	/**
	 * Tries to get the lock, and leaves nothing behind without it.
	 * @return null if others have votes too, but perhaps nobody the lock
	 */
	private @Nullable AcquireResult hold(Ballot ballot, AcquireRequest request, long attempt, long sent)
			throws InterruptedException {
		try {
			Ballot.Outcome outcome = ballot.vote();
			if (outcome == Ballot.Outcome.WON) {
				long fencingToken = confirm(ballot, request, sent);
				this.renewal.begin(request.token(), attempt, request.ttl());
				return new Acquired(fencingToken);
			}
			ballot.withdraw();
			return switch (outcome) {
				case NO_QUORUM -> throw ballot.noQuorum();
				case TAKEN -> ballot.busy();
				default -> null;
			};
		}
		catch (InterruptedException ex) {
			ballot.abandon();
			throw ex;
		}
	}

	private long confirm(Ballot ballot, AcquireRequest request, long sent) throws InterruptedException {
		try {
			long fencingToken = ballot.confirm();
			Duration elapsed = Duration.ofNanos(this.nanoTime.getAsLong() - sent);
			Duration left = request.ttl().minus(elapsed).minus(this.settings.drift(request.ttl()));
			if (left.toNanos() <= ROUNDING_NANOS) {
				throw new LockUnavailableException("the nodes took " + UnavailableTranslator.format(elapsed)
						+ " to vote and to confirm it, so that the lease of "
						+ UnavailableTranslator.format(request.ttl()) + " was over");
			}
			return fencingToken;
		}
		catch (LockUnavailableException ex) {
			ballot.withdraw();
			throw ex;
		}
	}

	private void endLateVotes(OwnerToken token) {
		Ballot ballot = this.open.remove(token);
		if (ballot != null) {
			ballot.end();
		}
	}

	@Override
	public ReleaseResult release(ReleaseRequest request, Duration timeout) {
		this.renewal.end(request.token());
		endLateVotes(request.token());
		Duration limit = limit(timeout);
		Hearing hearing = new Hearing(this.voters);
		Round<ReleaseResult> round = new Round<>(this.voters, this.requests.release(request), nodeTimeout(limit), limit,
				(late) -> logger.debug("Release of lock '{}' in the background: {}", request.key(), late));
		int released = 0;
		int notOwner = 0;
		long fencingToken = 0;
		try {
			while (released < this.majority && !isBlocking(notOwner)) {
				Reply<ReleaseResult> reply = round.next();
				if (reply == null) {
					throw hearing.unavailable("%d of %d nodes released the lock, %d needed".formatted(released,
							this.voters.size(), this.majority), round.timeout());
				}
				if (reply instanceof Reply.Failed<ReleaseResult> failed) {
					hearing.failed(failed);
				}
				else if (((Reply.Answered<ReleaseResult>) reply).answer() instanceof NotOwner answer) {
					hearing.problem(reply.voter(), reply.voter() + " does not have it");
					notOwner++;
					fencingToken = Math.max(fencingToken, answer.fencingToken());
				}
				else {
					hearing.fine(reply.voter());
					released++;
				}
			}
		}
		catch (InterruptedException ex) {
			throw interrupted(ex);
		}
		finally {
			// the others are told too
			round.leave();
		}
		return (released >= this.majority) ? new Released() : new NotOwner(fencingToken);
	}

	@Override
	public List<RenewResult> renew(List<RenewRequest> requests, Duration timeout) {
		if (requests.isEmpty()) {
			return List.of();
		}
		List<RenewRequest> possible = requests.stream().filter((request) -> !isTooLong(request.ttl())).toList();
		if (possible.isEmpty()) {
			throw tooLong(requests.get(0).ttl());
		}
		Iterator<RenewResult> answers = renewal(possible, timeout).iterator();
		return requests.stream()
			.map((request) -> isTooLong(request.ttl()) ? RenewResult.UNKNOWN : answers.next())
			.toList();
	}

	private List<RenewResult> renewal(List<RenewRequest> requests, Duration timeout) {
		Duration limit = limit(timeout);
		try {
			return this.renewal.renew(requests, nodeTimeout(limit), limit);
		}
		catch (InterruptedException ex) {
			throw interrupted(ex);
		}
	}

	private boolean isBlocking(int nodes) {
		return nodes > this.voters.size() - this.majority;
	}

	private boolean isTooLong(Duration ttl) {
		return !this.settings.durable() && ttl.compareTo(this.settings.longestTtl()) > 0;
	}

	private LockUnavailableException tooLong(Duration ttl) {
		return new LockUnavailableException("a lease of " + UnavailableTranslator.format(ttl)
				+ " is longer than the longest ttl in use is said to be, "
				+ UnavailableTranslator.format(this.settings.longestTtl())
				+ ", after which nodes that lost their data in a restart vote again: "
				+ "make distributed-lock.redlock.longest-ttl longer, the lease shorter, or renew it");
	}

	private Duration limit(Duration timeout) {
		return shorter(timeout, this.settings.commandTimeout());
	}

	private Duration nodeTimeout(Duration limit) {
		return shorter(limit, this.settings.nodeTimeout());
	}

	private static Duration shorter(Duration one, Duration other) {
		return (one.compareTo(other) < 0) ? one : other;
	}

	private static LockUnavailableException interrupted(InterruptedException ex) {
		Thread.currentThread().interrupt();
		return new LockUnavailableException("interrupted while waiting for Redis, which may have done it all the same",
				ex);
	}

	/**
	 * Empty: there is no queue.
	 */
	@Override
	public Optional<Inbox> inbox(String instance, InboxListener listener) {
		return Optional.empty();
	}

	@Override
	public void close() {
		// what is still to be released at slower nodes, all of them at the same time
		long end = System.nanoTime() + this.settings.nodeTimeout().toNanos();
		this.voters.forEach(Voter::end);
		this.voters.forEach((voter) -> voter.close(Duration.ofNanos(end - System.nanoTime())));
	}

}
