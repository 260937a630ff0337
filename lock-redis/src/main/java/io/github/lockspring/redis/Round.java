package io.github.lockspring.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiFunction;
import java.util.function.Consumer;

import io.github.lockspring.redis.Voter.Reply;
import org.jspecify.annotations.Nullable;

/**
 * A request that is put to several nodes at once.
 */
final class Round<A> {

	/*
	 * The thread that begins a round reads replies until it knows enough, or until the
	 * time is over, and closes it. Replies come on the threads of their nodes. `lock`
	 * decides for each reply whether it came before the round was closed, and then the
	 * reader gets it, or afterwards, and then it goes to `late`, on the node's thread. So
	 * each reply is seen by exactly one of the two. Whatever the reader does before it
	 * closes the round is visible to `late`.
	 *
	 * Requests that stand in line when the round is closed are not asked any more, unless
	 * they are left to be (a release is wanted in any case).
	 */

	private final LinkedBlockingQueue<Reply<A>> replies = new LinkedBlockingQueue<>();

	private final Consumer<Reply<A>> late;

	private final ReentrantLock lock = new ReentrantLock();

	private boolean closed;

	private final Map<Voter, Runnable> tasks = new IdentityHashMap<>();

	private final long start = System.nanoTime();

	private final long limit;

	private int open;

	/**
	 * Begins a round.
	 * @param voters whom to ask
	 * @param request what to ask; is given the time it has
	 * @param timeout the time that a node has
	 * @param firstTimeout the time that a node has that has never answered
	 * @param late is given replies that came too late
	 */
	Round(List<Voter> voters, BiFunction<Voter, Duration, A> request, Duration timeout, Duration firstTimeout,
			Consumer<Reply<A>> late) {
		this.late = late;
		this.limit = (voters.stream().allMatch(Voter::isKnown) ? timeout : firstTimeout).toNanos();
		this.open = voters.size();
		for (Voter voter : voters) {
			Runnable task = voter.ask(request, voter.isKnown() ? timeout : firstTimeout, this::replied);
			this.tasks.put(voter, task);
		}
	}

	private void replied(Reply<A> reply) {
		this.lock.lock();
		try {
			if (!this.closed) {
				this.replies.add(reply);
				return;
			}
		}
		finally {
			this.lock.unlock();
		}
		this.late.accept(reply);
	}

	/**
	 * Waits for the next reply.
	 * @return null if there will be none, or none in time
	 */
	@Nullable Reply<A> next() throws InterruptedException {
		if (this.open == 0) {
			return null;
		}
		Reply<A> reply = this.replies.poll(this.limit - (System.nanoTime() - this.start), TimeUnit.NANOSECONDS);
		if (reply != null) {
			this.open--;
			this.tasks.remove(reply.voter());
		}
		return reply;
	}

	/**
	 * Ends the round: what has not been asked yet is not asked.
	 * @return the replies that came in time and were not read
	 */
	List<Reply<A>> close() {
		giveUp();
		return leave();
	}

	/**
	 * Does not ask any more who was not asked yet. Not for two threads at once.
	 */
	void giveUp() {
		this.tasks.forEach((voter, task) -> {
			if (voter.giveUp(task)) {
				this.open--;
			}
		});
	}

	/**
	 * Ends the round and leaves to the nodes what they have not been asked yet.
	 * @return the replies that came in time and were not read
	 */
	List<Reply<A>> leave() {
		List<Reply<A>> unread = new ArrayList<>();
		this.lock.lock();
		try {
			this.closed = true;
			this.replies.drainTo(unread);
		}
		finally {
			this.lock.unlock();
		}
		this.open -= unread.size();
		return unread;
	}

	/**
	 * How long replies were, or are, waited for.
	 */
	Duration timeout() {
		return Duration.ofNanos(this.limit);
	}

	/**
	 * How many replies may yet come; once closed, those that go to {@code late}.
	 */
	int open() {
		return this.open;
	}

}
