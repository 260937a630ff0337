package io.github.lockspring.redis.redlock;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.redis.redlock.AcquireTally.Outcome;
import io.github.lockspring.redis.redlock.NodeAcquireResult.Granted;
import io.github.lockspring.redis.redlock.NodeAcquireResult.NoVote;
import io.github.lockspring.redis.redlock.NodeAcquireResult.NotSent;
import io.github.lockspring.redis.redlock.NodeAcquireResult.OwnedByOther;
import io.github.lockspring.redis.redlock.RedlockNodeClient.NodeResult;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult.Busy;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.OwnerToken;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One attempt to acquire a lock on a majority of nodes: their votes, and the confirmation
 * or the withdrawal of them.
 */
final class QuorumAcquisition {

	/*
	 * The requesting thread does everything, except for votes that arrive when the
	 * outcome is already known. If `unwanted` is set, the threads of their nodes withdraw
	 * them immediately. A late vote is first recorded, and then withdrawn if it is
	 * unwanted. A withdrawal of all votes, or a release, first sets `unwanted`, and then
	 * sends the withdrawal to the recorded nodes, or to all nodes. So one of the two
	 * withdraws a late vote.
	 */

	private static final Logger logger = LoggerFactory.getLogger(QuorumAcquisition.class);

	private final Quorum quorum;

	private final RedlockRequests requests;

	private final AcquireRequest request;

	private final long attempt;

	private final Duration timeout;

	private final Duration firstTimeout;

	/** Successful acquisitions with votes that may still arrive. */
	private final Map<OwnerToken, QuorumAcquisition> pending;

	private final AcquireTally tally;

	private @Nullable QuorumRequest<NodeAcquireResult> votes;

	/** Nodes that have a vote of this attempt. */
	private final List<RedlockNodeClient> granted = new CopyOnWriteArrayList<>();

	/** Nodes that may have one. */
	private final List<RedlockNodeClient> uncertain = new CopyOnWriteArrayList<>();

	private final AtomicInteger lateResults = new AtomicInteger();

	private volatile boolean unwanted;

	QuorumAcquisition(Quorum quorum, RedlockRequests requests, AcquireRequest request, long attempt, Duration timeout,
			Duration firstTimeout, Map<OwnerToken, QuorumAcquisition> pending) {
		this.quorum = quorum;
		this.requests = requests;
		this.request = request;
		this.attempt = attempt;
		this.timeout = timeout;
		this.firstTimeout = firstTimeout;
		this.pending = pending;
		this.tally = new AcquireTally(quorum);
	}

	/**
	 * Requests the votes.
	 */
	Outcome acquire() throws InterruptedException {
		var acquire = this.requests.acquire(this.request, this.attempt);
		QuorumRequest<NodeAcquireResult> votes = new QuorumRequest<>(this.quorum.nodes(),
				(node, timeout) -> this.unwanted ? new NotSent() : acquire.apply(node, timeout), this.timeout,
				this.firstTimeout, this::late);
		this.votes = votes;
		Outcome outcome = Outcome.NO_QUORUM;
		try {
			votes.readUntil(this.tally::isDecided, (result) -> count(votes, result));
			outcome = this.tally.outcome();
		}
		finally {
			this.unwanted = outcome != Outcome.ACQUIRED;
			// the more nodes have a lock, the more of them may fail while it is held
			List<NodeResult<NodeAcquireResult>> unread = this.unwanted ? votes.close() : votes.leave();
			unread.forEach((result) -> count(votes, result));
		}
		if (outcome == Outcome.ACQUIRED) {
			this.pending.put(this.request.token(), this);
			addLateResults(votes.outstanding());
		}
		return outcome;
	}

	private void count(QuorumRequest<NodeAcquireResult> votes, NodeResult<NodeAcquireResult> result) {
		if (wasNotSent(result)) {
			return;
		}
		RedlockNodeClient node = result.node();
		String problem = problem(result);
		node.logAvailability(problem);
		recordVote(result);
		if (result instanceof NodeResult.Failure<NodeAcquireResult> failure) {
			votes.fail(failure);
			this.tally.addUnavailable();
		}
		else if (problem != null) {
			votes.reject(node, problem);
			this.tally.addUnavailable();
		}
		else if (result instanceof NodeResult.Success<NodeAcquireResult> success) {
			this.tally.add(success.result());
			if (success.result() instanceof OwnedByOther) {
				votes.reject(node, "another owner has the lock");
			}
			else {
				votes.accept(node);
			}
		}
	}

	/**
	 * Returns why the result is no vote, or null if it is one.
	 */
	private @Nullable String problem(NodeResult<NodeAcquireResult> result) {
		RedlockNodeClient node = result.node();
		if (result instanceof NodeResult.Success<NodeAcquireResult> success) {
			NodeAcquireResult vote = success.result();
			if (!vote.runId().equals(NodeAcquireResult.UNKNOWN_RUN_ID)) {
				node.runId(vote.runId());
			}
			return (vote instanceof NoVote none) ? none.reason() : duplicate(node);
		}
		// it may be another server when it returns
		node.runId(null);
		return ((NodeResult.Failure<NodeAcquireResult>) result).problem();
	}

	private @Nullable String duplicate(RedlockNodeClient node) {
		String runId = node.runId();
		for (RedlockNodeClient other : this.quorum.nodes()) {
			if (other != node && runId != null && runId.equals(other.runId())) {
				return "is the same server as " + other + ", which must not vote twice";
			}
		}
		return null;
	}

	/**
	 * Records where a vote of this attempt is, or may be.
	 * @return whether it may be at this node
	 */
	private boolean recordVote(NodeResult<NodeAcquireResult> result) {
		if (result instanceof NodeResult.Success<NodeAcquireResult> success) {
			return success.result() instanceof Granted && this.granted.add(result.node());
		}
		return this.uncertain.add(result.node());
	}

	/**
	 * Whether all nodes that replied or failed were able to vote.
	 */
	boolean isComplete() {
		return this.tally.isComplete();
	}

	/**
	 * Stores the largest fencing token of the votes on a majority of the nodes that still
	 * have this owner token.
	 * @return the fencing token
	 * @throws LockUnavailableException if there was no such majority
	 */
	long confirm() throws InterruptedException {
		long fencingToken = this.tally.fencingToken();
		QuorumRequest<Boolean> confirmation = new QuorumRequest<>(this.quorum.nodes(),
				this.requests.confirm(this.request, this.attempt, fencingToken), this.timeout, this.timeout, (late) -> {
				});
		try {
			confirmation.readUntil(
					() -> this.quorum.isReached(confirmation.accepted())
							|| this.quorum.isBlocked(confirmation.rejected() + confirmation.failed()),
					(result) -> countConfirmation(confirmation, result));
		}
		finally {
			confirmation.close();
		}
		if (!this.quorum.isReached(confirmation.accepted())) {
			throw confirmation.unavailable("%d of %d nodes voted and %d confirmed it, %d needed"
				.formatted(this.tally.granted(), this.quorum.size(), confirmation.accepted(), this.quorum.majority()));
		}
		return fencingToken;
	}

	private void countConfirmation(QuorumRequest<Boolean> confirmation, NodeResult<Boolean> result) {
		RedlockNodeClient node = result.node();
		if (result instanceof NodeResult.Failure<Boolean> failure) {
			confirmation.fail(failure);
			if (this.granted.remove(node)) {
				this.uncertain.add(node);
			}
			return;
		}
		boolean confirmed = ((NodeResult.Success<Boolean>) result).result();
		String problem = confirmed ? duplicate(node) : "does not have the lock";
		if (problem == null) {
			confirmation.accept(node);
		}
		else {
			confirmation.reject(node, problem);
		}
	}

	/**
	 * Withdraws the votes of this attempt. Returns when the nodes that voted have
	 * replied; those that did not reply before withdraw them in the background.
	 */
	void withdraw() throws InterruptedException {
		this.unwanted = true;
		withdraw(this.uncertain).leave();
		QuorumRequest<ReleaseResult> withdrawal = withdraw(this.granted);
		try {
			withdrawal.readUntil(() -> false, (result) -> {
			});
		}
		finally {
			withdrawal.leave();
		}
	}

	/**
	 * Withdraws the votes of this attempt in the background.
	 */
	void withdrawAsync() {
		this.unwanted = true;
		withdraw(this.uncertain).leave();
		withdraw(this.granted).leave();
	}

	private QuorumRequest<ReleaseResult> withdraw(List<RedlockNodeClient> nodes) {
		return new QuorumRequest<>(nodes, this.requests.withdraw(this.request, this.attempt), this.timeout,
				this.timeout, (late) -> {
				});
	}

	/**
	 * Declares votes that may still arrive unwanted.
	 */
	void end() {
		this.unwanted = true;
		if (this.votes != null) {
			this.votes.cancelQueued();
		}
	}

	private static boolean wasNotSent(NodeResult<NodeAcquireResult> result) {
		return result instanceof NodeResult.Success<NodeAcquireResult> success && success.result() instanceof NotSent;
	}

	private void late(NodeResult<NodeAcquireResult> result) {
		RedlockNodeClient node = result.node();
		if (!wasNotSent(result)) {
			node.logAvailability(problem(result));
		}
		if (recordVote(result) && this.unwanted) {
			try {
				this.requests.withdraw(this.request, this.attempt).apply(node, this.timeout);
			}
			catch (LockUnavailableException ex) {
				logger.debug("A late vote of {} for lock '{}' was not withdrawn: {}", node, this.request.key(),
						ex.getMessage());
			}
		}
		addLateResults(-1);
	}

	private void addLateResults(int more) {
		if (this.lateResults.addAndGet(more) == 0) {
			this.pending.remove(this.request.token(), this);
		}
	}

	/**
	 * Describes the votes for others.
	 */
	Busy busy() {
		return this.tally.busy();
	}

	/**
	 * Describes why no majority voted, after {@link #acquire()}.
	 */
	LockUnavailableException noQuorum() {
		String summary = "%d of %d nodes can vote, %d needed".formatted(this.tally.votes(), this.quorum.size(),
				this.quorum.majority());
		return (this.votes != null) ? this.votes.unavailable(summary) : new LockUnavailableException(summary);
	}

}
