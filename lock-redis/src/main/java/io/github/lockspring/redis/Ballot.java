package io.github.lockspring.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.redis.Voter.Reply;
import io.github.lockspring.store.AcquireResult.Busy;
import io.github.lockspring.store.AcquireRequest;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.ReleaseResult;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One attempt to get a lock from a majority of nodes: the votes, and their confirmation
 * or withdrawal.
 */
final class Ballot {

	/*
	 * All is done by the thread that asks for the lock, but for votes that come when the
	 * outcome is known already. `unwanted` tells their nodes' threads to withdraw them at
	 * once. A late vote is written down first and then withdrawn if it is unwanted; who
	 * withdraws all votes, or releases the lock, says so first and then asks the nodes
	 * that are written down, or all nodes. So a late vote is withdrawn by one of the two.
	 */

	private static final Logger logger = LoggerFactory.getLogger(Ballot.class);

	enum Outcome {

		/** A majority voted for the token. */
		WON,

		/** Another owner has a majority. */
		TAKEN,

		/** Others have votes, but perhaps nobody a majority. */
		SPLIT,

		/** A majority did not answer, or has no vote. */
		NO_QUORUM

	}

	private final List<Voter> voters;

	private final int majority;

	private final RedlockRequests requests;

	private final AcquireRequest request;

	private final long attempt;

	private final Duration timeout;

	private final Duration firstTimeout;

	/** Ballots that were won and to which votes may yet come. */
	private final Map<OwnerToken, Ballot> open;

	private final Hearing hearing;

	private final Map<Voter, Vote> votes = new LinkedHashMap<>();

	private Duration heardFor = Duration.ZERO;

	private @Nullable Round<Vote> round;

	/** Nodes without a vote, or that did not answer. */
	private int silent;

	/** Nodes at which there is a vote of this attempt. */
	private final List<Voter> given = new CopyOnWriteArrayList<>();

	/** Nodes at which there may be one. */
	private final List<Voter> uncertain = new CopyOnWriteArrayList<>();

	private final AtomicInteger expected = new AtomicInteger();

	private volatile boolean unwanted;

	Ballot(List<Voter> voters, RedlockRequests requests, AcquireRequest request, long attempt, Duration timeout,
			Duration firstTimeout, Map<OwnerToken, Ballot> open) {
		this.voters = voters;
		this.majority = voters.size() / 2 + 1;
		this.requests = requests;
		this.request = request;
		this.attempt = attempt;
		this.timeout = timeout;
		this.firstTimeout = firstTimeout;
		this.open = open;
		this.hearing = new Hearing(voters);
	}

	Outcome vote() throws InterruptedException {
		var ask = this.requests.vote(this.request, this.attempt);
		Round<Vote> round = new Round<>(this.voters,
				(voter, timeout) -> this.unwanted ? new Vote.NotAsked() : ask.apply(voter, timeout), this.timeout,
				this.firstTimeout, this::late);
		this.heardFor = round.timeout();
		this.round = round;
		Outcome outcome = Outcome.NO_QUORUM;
		try {
			while (!isDecided()) {
				Reply<Vote> reply = round.next();
				if (reply == null) {
					break;
				}
				count(reply);
			}
			outcome = outcome();
		}
		finally {
			this.unwanted = outcome != Outcome.WON;
			// the more nodes have a lock, the more of them may fail while it is held
			((outcome == Outcome.WON) ? round.leave() : round.close()).forEach(this::count);
		}
		if (outcome == Outcome.WON) {
			this.open.put(this.request.token(), this);
			expect(round.open());
		}
		return outcome;
	}

	private void count(Reply<Vote> reply) {
		if (wasNotAsked(reply)) {
			return;
		}
		Voter voter = reply.voter();
		String problem = problem(reply);
		voter.note(problem);
		writeDown(reply);
		if (reply instanceof Reply.Failed<Vote> failed) {
			this.hearing.failed(failed);
			this.silent++;
		}
		else if (problem != null) {
			this.hearing.problem(voter, problem);
			this.silent++;
		}
		else if (reply instanceof Reply.Answered<Vote> answered) {
			this.votes.put(voter, answered.answer());
			if (answered.answer() instanceof Vote.ForAnother) {
				this.hearing.problem(voter, voter + " has it for another owner");
			}
			else {
				this.hearing.fine(voter);
			}
		}
	}

	/**
	 * Why the reply is no vote, or null if it is one.
	 */
	private @Nullable String problem(Reply<Vote> reply) {
		Voter voter = reply.voter();
		if (reply instanceof Reply.Answered<Vote> answered) {
			Vote vote = answered.answer();
			if (!vote.runId().equals(Vote.ANONYMOUS)) {
				voter.identify(vote.runId());
			}
			return (vote instanceof Vote.None none) ? voter + none.reason() : doubled(voter);
		}
		// it may be another server when it comes back
		voter.identify(null);
		return ((Reply.Failed<Vote>) reply).problem();
	}

	private @Nullable String doubled(Voter voter) {
		String runId = voter.runId();
		for (Voter other : this.voters) {
			if (other != voter && runId != null && runId.equals(other.runId())) {
				return voter + " and " + other + " are the same server, which must not vote twice";
			}
		}
		return null;
	}

	/**
	 * Remembers where a vote of this attempt is, or may be.
	 * @return whether it may be at this node
	 */
	private boolean writeDown(Reply<Vote> reply) {
		if (reply instanceof Reply.Failed) {
			return this.uncertain.add(reply.voter());
		}
		boolean given = ((Reply.Answered<Vote>) reply).answer() instanceof Vote.Given;
		return given && this.given.add(reply.voter());
	}

	private int votesForThis() {
		return (int) this.votes.values().stream().filter(Vote.Given.class::isInstance).count();
	}

	/**
	 * Whether more replies would change nothing. Where a majority has no vote there is no
	 * hurry: the others are heard, so that nothing is left at them.
	 */
	private boolean isDecided() {
		int forThis = votesForThis();
		int against = this.votes.size() - forThis + this.silent;
		return forThis >= this.majority || this.votes.size() >= this.majority && isBlocking(against);
	}

	private boolean isBlocking(int nodes) {
		return nodes > this.voters.size() - this.majority;
	}

	private Outcome outcome() {
		if (votesForThis() >= this.majority) {
			return Outcome.WON;
		}
		if (this.votes.size() < this.majority) {
			return Outcome.NO_QUORUM;
		}
		Map<String, Integer> owners = new HashMap<>();
		for (Vote vote : this.votes.values()) {
			if (vote instanceof Vote.ForAnother other
					&& owners.merge(other.owner(), 1, Integer::sum) >= this.majority) {
				return Outcome.TAKEN;
			}
		}
		return Outcome.SPLIT;
	}

	/**
	 * Whether all nodes that were heard could vote.
	 */
	boolean isUndisturbed() {
		return this.silent == 0;
	}

	/**
	 * Makes the largest vote known to a majority, as long as that still has this token.
	 * @return the fencing token
	 * @throws LockUnavailableException if there was no such majority
	 */
	long confirm() throws InterruptedException {
		long fencingToken = 0;
		for (Vote vote : this.votes.values()) {
			fencingToken = (vote instanceof Vote.Given mine) ? Math.max(fencingToken, mine.fencingToken())
					: fencingToken;
		}
		Hearing hearing = new Hearing(this.voters);
		Round<Boolean> round = new Round<>(this.voters, this.requests.confirm(this.request, this.attempt, fencingToken),
				this.timeout, this.timeout, (late) -> {
				});
		int confirmed = 0;
		int against = 0;
		try {
			while (confirmed < this.majority && !isBlocking(against)) {
				Reply<Boolean> reply = round.next();
				if (reply == null) {
					break;
				}
				if (isConfirmed(reply, hearing)) {
					confirmed++;
				}
				else {
					against++;
				}
			}
		}
		finally {
			round.close();
		}
		if (confirmed < this.majority) {
			throw hearing.unavailable("%d of %d nodes voted and %d confirmed it, %d needed".formatted(votesForThis(),
					this.voters.size(), confirmed, this.majority), round.timeout());
		}
		return fencingToken;
	}

	private boolean isConfirmed(Reply<Boolean> reply, Hearing hearing) {
		Voter voter = reply.voter();
		if (reply instanceof Reply.Failed<Boolean> failed) {
			hearing.failed(failed);
			if (this.given.remove(voter)) {
				this.uncertain.add(voter);
			}
			return false;
		}
		String problem = ((Reply.Answered<Boolean>) reply).answer() ? doubled(voter) : voter + " does not have it";
		if (problem != null) {
			hearing.problem(voter, problem);
			return false;
		}
		hearing.fine(voter);
		return true;
	}

	/**
	 * Takes back what this attempt has got. Returns when the nodes that voted for it have
	 * answered; those that did not answer before are told in the background.
	 */
	void withdraw() throws InterruptedException {
		this.unwanted = true;
		withdraw(this.uncertain).leave();
		Round<ReleaseResult> round = withdraw(this.given);
		try {
			while (round.next() != null) {
				continue;
			}
		}
		finally {
			round.leave();
		}
	}

	/**
	 * Takes back what this attempt has got, in the background.
	 */
	void abandon() {
		this.unwanted = true;
		withdraw(this.uncertain).leave();
		withdraw(this.given).leave();
	}

	private Round<ReleaseResult> withdraw(List<Voter> nodes) {
		return new Round<>(nodes, this.requests.withdraw(this.request, this.attempt), this.timeout, this.timeout,
				(late) -> {
				});
	}

	/**
	 * Votes that may yet be given are not wanted any more.
	 */
	void end() {
		this.unwanted = true;
		if (this.round != null) {
			this.round.giveUp();
		}
	}

	private static boolean wasNotAsked(Reply<Vote> reply) {
		return reply instanceof Reply.Answered<Vote> answered && answered.answer() instanceof Vote.NotAsked;
	}

	private void late(Reply<Vote> reply) {
		Voter voter = reply.voter();
		if (!wasNotAsked(reply)) {
			voter.note(problem(reply));
		}
		if (writeDown(reply) && this.unwanted) {
			try {
				this.requests.withdraw(this.request, this.attempt).apply(voter, this.timeout);
			}
			catch (LockUnavailableException ex) {
				logger.debug("A late vote of {} for lock '{}' was not withdrawn: {}", voter, this.request.key(),
						ex.getMessage());
			}
		}
		expect(-1);
	}

	private void expect(int more) {
		if (this.expected.addAndGet(more) == 0) {
			this.open.remove(this.request.token(), this);
		}
	}

	/**
	 * What the votes for others say.
	 */
	Busy busy() {
		List<Long> waits = new ArrayList<>();
		long lastFencingToken = 0;
		for (Vote vote : this.votes.values()) {
			if (vote instanceof Vote.ForAnother other) {
				waits.add((other.remainingMillis() < 0) ? Long.MAX_VALUE : other.remainingMillis());
				lastFencingToken = Math.max(lastFencingToken, other.lastFencingToken());
			}
			else {
				waits.add(0L);
			}
		}
		// the lock can be taken when a majority is free, not only when all nodes are
		waits.sort(null);
		long wait = waits.get(this.majority - 1);
		return new Busy((wait == Long.MAX_VALUE) ? -1 : wait, lastFencingToken);
	}

	LockUnavailableException noQuorum() {
		return this.hearing.unavailable(
				"%d of %d nodes can vote, %d needed".formatted(this.votes.size(), this.voters.size(), this.majority),
				this.heardFor);
	}

}
