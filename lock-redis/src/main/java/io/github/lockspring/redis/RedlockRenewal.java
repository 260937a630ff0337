package io.github.lockspring.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.redis.Voter.Reply;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.ReleaseRequest;
import io.github.lockspring.store.RenewResult;
import io.github.lockspring.store.RenewRequest;

/**
 * Renews leases on a majority of nodes, many of them in one round.
 */
final class RedlockRenewal {

	/*
	 * A node that was away or has forgotten a lock is asked for its vote again, once the
	 * renewal has succeeded without it. Otherwise a lock that is held for long would end
	 * when the last one of its first majority has been restarted, however far apart that
	 * was. The vote counts from the next renewal on: this one says what the owner had,
	 * and nothing is won by what it has got since.
	 *
	 * `held` has the tokens that were acquired and have not ended, with the attempts that
	 * got their locks. The release takes its token out first and then tells all nodes, so
	 * that a vote which is given too late is withdrawn by the release or by its own
	 * thread, which finds the token gone. Who is not held is not renewed by any vote that
	 * may yet be found. Of a tenure that ended while no node answered nobody may ever say
	 * so: tokens whose lease is over leave when there are too many.
	 */

	private static final int FEW = 1000;

	private record Held(long attempt, long until) {
	}

	private final List<Voter> voters;

	private final int majority;

	private final RedlockRequests requests;

	private final Map<OwnerToken, Held> held = new ConcurrentHashMap<>();

	private volatile int most = FEW;

	RedlockRenewal(List<Voter> voters, RedlockRequests requests) {
		this.voters = voters;
		this.majority = voters.size() / 2 + 1;
		this.requests = requests;
	}

	/**
	 * Renews leases.
	 * @throws LockUnavailableException if no majority answered
	 */
	List<RenewResult> renew(List<RenewRequest> requests, Duration timeout, Duration firstTimeout)
			throws InterruptedException {
		Hearing hearing = new Hearing(this.voters);
		AtomicReference<List<RenewResult>> given = new AtomicReference<>(List.of());
		List<Long> attempts = requests.stream().map((request) -> attempt(request.token())).toList();
		Round<List<Boolean>> round = new Round<>(this.voters, this.requests.renew(requests, attempts), timeout,
				firstTimeout, (late) -> regain(late, requests, given.get(), timeout));
		List<Reply<List<Boolean>>> heard = new ArrayList<>();
		int[] owner = new int[requests.size()];
		int[] notOwner = new int[requests.size()];
		try {
			while (!areDecided(owner, notOwner)) {
				Reply<List<Boolean>> reply = round.next();
				if (reply == null) {
					break;
				}
				heard.add(reply);
				if (reply instanceof Reply.Failed<List<Boolean>> failed) {
					hearing.failed(failed);
				}
				else if (reply instanceof Reply.Answered<List<Boolean>> answered) {
					hearing.fine(answered.voter());
					for (int i = 0; i < owner.length; i++) {
						int[] counter = answered.answer().get(i) ? owner : notOwner;
						counter[i]++;
					}
				}
			}
		}
		finally {
			heard.addAll(round.close());
		}
		long answered = heard.stream().filter(Reply.Answered.class::isInstance).count();
		if (answered < this.majority) {
			throw hearing.unavailable(
					"%d of %d nodes answered, %d needed".formatted(answered, this.voters.size(), this.majority),
					round.timeout());
		}
		List<RenewResult> answers = IntStream.range(0, owner.length)
			.mapToObj((i) -> answer(owner[i], notOwner[i]))
			.toList();
		for (int i = 0; i < answers.size(); i++) {
			RenewRequest request = requests.get(i);
			if (answers.get(i) == RenewResult.NOT_OWNER) {
				end(request.token());
			}
			else if (answers.get(i) == RenewResult.RENEWED) {
				long until = System.nanoTime() + request.ttl().toNanos();
				this.held.computeIfPresent(request.token(), (token, held) -> new Held(held.attempt(), until));
			}
		}
		given.set(answers);
		heard.forEach((node) -> regain(node, requests, answers, timeout));
		return answers;
	}

	private boolean areDecided(int[] owner, int[] notOwner) {
		return IntStream.range(0, owner.length).noneMatch((i) -> answer(owner[i], notOwner[i]) == RenewResult.UNKNOWN);
	}

	private RenewResult answer(int owner, int notOwner) {
		if (owner >= this.majority) {
			return RenewResult.RENEWED;
		}
		return (notOwner > this.voters.size() - this.majority) ? RenewResult.NOT_OWNER : RenewResult.UNKNOWN;
	}

	private void regain(Reply<List<Boolean>> reply, List<RenewRequest> requests, List<RenewResult> answers,
			Duration timeout) {
		if (reply instanceof Reply.Answered<List<Boolean>> node) {
			for (int i = 0; i < answers.size(); i++) {
				RenewRequest request = requests.get(i);
				Held held = this.held.get(request.token());
				if (answers.get(i) == RenewResult.RENEWED && !node.answer().get(i) && held != null) {
					node.voter()
						.ask(this.requests.voteForHeld(request, held.attempt()), timeout,
								(vote) -> withdrawIfEnded(request, vote, timeout));
				}
			}
		}
	}

	private void withdrawIfEnded(RenewRequest request, Reply<Vote> reply, Duration timeout) {
		boolean maybe = !(reply instanceof Reply.Answered<Vote> answered) || answered.answer() instanceof Vote.Given;
		if (maybe && !this.held.containsKey(request.token())) {
			ReleaseRequest release = new ReleaseRequest(request.key(), request.token());
			reply.voter().ask(this.requests.release(release), timeout, (withdrawn) -> {
			});
		}
	}

	/**
	 * The tenure begins.
	 * @param attempt which got the lock
	 */
	void begin(OwnerToken token, long attempt, Duration ttl) {
		long now = System.nanoTime();
		this.held.put(token, new Held(attempt, now + ttl.toNanos()));
		if (this.held.size() > this.most) {
			this.held.values().removeIf((held) -> held.until() - now < 0);
			this.most = Math.max(FEW, 2 * this.held.size());
		}
	}

	private long attempt(OwnerToken token) {
		Held held = this.held.get(token);
		return (held != null) ? held.attempt() : RedlockRequests.ANY_ATTEMPT;
	}

	/**
	 * The tenure ends: votes that may yet be given are not wanted any more.
	 */
	void end(OwnerToken token) {
		this.held.remove(token);
	}

}
