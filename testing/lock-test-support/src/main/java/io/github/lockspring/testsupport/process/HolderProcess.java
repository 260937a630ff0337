package io.github.lockspring.testsupport.process;

import java.time.Duration;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;

/**
 * A process that holds a renewed lock, so that a test can stop it: its main method, and
 * the requests of the test.
 *
 * @since 0.1
 */
public final class HolderProcess {

	private HolderProcess() {
	}

	/**
	 * Acquires the lock, reports its fencing token, and answers requests until it is
	 * stopped.
	 * @param locks the locks of the process
	 * @param key the key
	 * @param ttl the lease
	 */
	public static void hold(LockTemplate locks, String key, Duration ttl) {
		Conversation test = new Conversation();
		HeldLock held = acquire(locks, key, ttl);
		test.say("token " + held.fencingToken());
		for (String line = test.hear(); !line.equals("stop"); line = test.hear()) {
			switch (line) {
				case "held" -> test.say(String.valueOf(held.isHeld()));
				case "acquire" -> {
					held = acquire(locks, key, ttl);
					test.say(String.valueOf(held.fencingToken()));
				}
				default -> test.say(close(held));
			}
		}
	}

	private static HeldLock acquire(LockTemplate locks, String key, Duration ttl) {
		return locks.acquire(LockRequest.of(key).ttl(ttl).waitTime(Duration.ofMinutes(1)));
	}

	private static String close(HeldLock held) {
		try {
			held.close();
			return "released";
		}
		catch (LockLostException ex) {
			return "lost";
		}
	}

}
