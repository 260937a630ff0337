package io.github.lockspring.failure;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

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
 * A process whose threads want the same locks again and again, each always the same one,
 * hold it for a moment, and write down when they had it.
 *
 * @param instance the instance of the process
 * @param events where to write
 * @param ttl the lease
 */
record Contender(Instance instance, EventLog events, Duration ttl) {

	static final String READY = "ready";

	/**
	 * A process takes a second or two to start, so that it waits for several locks: a
	 * kill is one of a waiter for each of them.
	 */
	static final List<String> KEYS = List.of("order-0", "order-1", "order-2", "order-3", "order-4");

	static final int THREADS_FOR_EACH_KEY = 2;

	static final Duration LONGEST_SECTION = Duration.ofMillis(15);

	/**
	 * Takes a lock by which the test learns the instance's name, and contends as soon as
	 * it is told to.
	 * @param args port, file of events, lease, the name of the lock
	 */
	public static void main(String[] args) throws Exception {
		Conversation test = new Conversation();
		try (EventLog events = new EventLog(Path.of(args[1])); Pulse pulse = new Pulse(events, () -> {
		}); Instance instance = Instance.on(Integer.parseInt(args[0]))) {
			HeldLock name = instance.locks()
				.acquire(LockRequest.of(args[3]).ttl(Duration.ofMinutes(1)).waitTime(Duration.ofMinutes(1)));
			test.say(READY);
			test.hear();
			name.close();
			Contender contender = new Contender(instance, events, Duration.parse(args[2]));
			for (String key : KEYS) {
				for (int i = 0; i < THREADS_FOR_EACH_KEY; i++) {
					new Thread(() -> contender.contend(key), "contender-" + key).start();
				}
			}
			// it is killed
			test.hear();
		}
	}

	private void contend(String key) {
		LockRequest request = LockRequest.of(key).ttl(this.ttl).waitTime(Duration.ofMinutes(5));
		while (true) {
			try {
				once(request);
			}
			catch (LockException ex) {
				this.events.count(ex.getClass().getSimpleName());
			}
			this.instance.events().clear();
		}
	}

	private void once(LockRequest request) {
		long asked = System.nanoTime();
		HeldLock lock = this.instance.locks().acquire(request);
		Holding holding = this.events.begin(lock, asked, this.ttl);
		try {
			LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(LONGEST_SECTION.toNanos()));
			holding.ends();
			lock.close();
			holding.ended(false);
		}
		catch (LockLostException ex) {
			holding.ended(true);
		}
	}

}
