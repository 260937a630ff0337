package io.github.lockspring.failure;

import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockException;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.redis.Instance;
import io.github.lockspring.testsupport.history.EventLog.Holding;
import io.github.lockspring.testsupport.history.EventLog;
import io.github.lockspring.testsupport.history.Pulse;
import io.github.lockspring.testsupport.process.Conversation;

/**
 * Threads of one instance that want the same locks again and again, each always the same
 * one, hold it for a moment, and write down when they had it. Runs in the test or as a
 * process of its own.
 */
final class Contender implements AutoCloseable {

	static final String READY = "ready";

	private static final int ROUNDS_BETWEEN_TIDYING = 1000;

	private final Instance instance;

	private final EventLog events;

	private final Contest contest;

	private final List<Thread> threads = new ArrayList<>();

	private volatile boolean stopping;

	Contender(Instance instance, EventLog events, Contest contest) {
		this.instance = instance;
		this.events = events;
		this.contest = contest;
		for (String key : contest.keys()) {
			for (int i = 0; i < contest.threads(); i++) {
				Thread thread = new Thread(() -> runUntilTheEnd(key), "contender-" + key + "-" + i);
				thread.setDaemon(true);
				this.threads.add(thread);
			}
		}
	}

	void begin() {
		this.threads.forEach(Thread::start);
	}

	private void runUntilTheEnd(String key) {
		try {
			run(key);
		}
		catch (UncheckedIOException ex) {
			// the file is closed. Uncaught, it would fail the next await()
			if (!this.stopping) {
				throw ex;
			}
		}
	}

	private void run(String key) {
		LockRequest request = LockRequest.of(key).ttl(this.contest.ttl()).waitTime(Duration.ofMinutes(5));
		for (int round = 1; !this.stopping; round++) {
			try {
				once(request);
			}
			catch (LockException ex) {
				// without an end of the instance there is none for a wait
				this.events.count(ex.getClass().getSimpleName());
			}
			if (round % ROUNDS_BETWEEN_TIDYING == 0) {
				this.instance.events().clear();
			}
		}
	}

	private void once(LockRequest request) {
		long asked = System.nanoTime();
		HeldLock lock = this.instance.locks().acquire(request);
		Holding holding = this.events.begin(lock, asked, this.contest.ttl());
		try {
			LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(this.contest.longestSection().toNanos()));
			holding.ends();
			lock.close();
			holding.ended(false);
		}
		catch (LockLostException ex) {
			holding.ended(true);
		}
	}

	/** Who waits now is sent away when the instance ends. */
	@Override
	public void close() {
		this.stopping = true;
	}

	/**
	 * Takes a lock by which the test learns the instance's name, and contends as soon as
	 * it is told to.
	 * @param args port, file of events, the contest, the name of the lock
	 */
	public static void main(String[] args) throws Exception {
		Conversation test = new Conversation();
		try (EventLog events = new EventLog(Path.of(args[1]));
				Instance instance = Instance.on(Integer.parseInt(args[0]))) {
			HeldLock name = instance.locks()
				.acquire(LockRequest.of(args[3]).ttl(Duration.ofMinutes(1)).waitTime(Duration.ofMinutes(1)));
			test.say(READY);
			test.hear();
			name.close();
			try (Pulse pulse = new Pulse(events, () -> {
			}); Contender contender = new Contender(instance, events, Contest.parse(args[2]))) {
				contender.begin();
				test.hear();
			}
		}
	}

	/**
	 * What is contended for, and how.
	 *
	 * @param locks how many locks there are
	 * @param ttl the lease
	 * @param longestSection the longest time for which it is held
	 * @param threads the threads of each instance for each lock
	 */
	record Contest(int locks, Duration ttl, Duration longestSection, int threads) {

		static Contest parse(String text) {
			String[] words = text.split(" ");
			return new Contest(Integer.parseInt(words[0]), Duration.parse(words[1]), Duration.parse(words[2]),
					Integer.parseInt(words[3]));
		}

		String text() {
			return this.locks + " " + this.ttl + ' ' + this.longestSection + ' ' + this.threads;
		}

		List<String> keys() {
			return IntStream.range(0, this.locks).mapToObj((i) -> "order-" + i).toList();
		}

		/** The lease that a hand-over gives, {@code g} in the protocol. */
		Duration grant() {
			return (this.ttl.compareTo(Duration.ofSeconds(5)) < 0) ? this.ttl : Duration.ofSeconds(5);
		}

		/** The longest time between two looks of a waiter, {@code S} in the protocol. */
		Duration lookInterval() {
			Duration quarter = grant().dividedBy(4);
			return (quarter.compareTo(Duration.ofSeconds(1)) < 0) ? quarter : Duration.ofSeconds(1);
		}

	}

}
