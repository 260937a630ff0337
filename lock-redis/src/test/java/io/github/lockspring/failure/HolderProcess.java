package io.github.lockspring.failure;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.redis.Instance;
import io.github.lockspring.testsupport.process.Conversation;
import io.github.lockspring.testsupport.process.JavaProcess;
import io.github.lockspring.testsupport.redis.RespClient;

/**
 * A lock holder in a process of its own, so that it can be stopped and killed.
 */
final class HolderProcess {

	private HolderProcess() {
	}

	static JavaProcess start(int port, String key, Duration ttl) {
		return new JavaProcess("holder-" + ProcessHandle.current().pid(), Path.of("target"), HolderProcess.class,
				List.of(String.valueOf(port), key, String.valueOf(ttl.toMillis())));
	}

	/**
	 * Waits for the lock, says "waiting" before and "held" with its token after, writes
	 * as long as it is held, then says "lost".
	 */
	public static void main(String[] args) throws Exception {
		LockRequest request = LockRequest.of(args[1])
			.ttl(Duration.ofMillis(Long.parseLong(args[2])))
			.renew()
			.waitTime(Duration.ofMinutes(1));
		Conversation test = new Conversation();
		try (Instance instance = Instance.on(Integer.parseInt(args[0]))) {
			openInbox(instance, Integer.parseInt(args[0]));
			test.say("waiting " + args[1]);
			HeldLock lock = instance.locks().acquire(request);
			test.say("held " + lock.fencingToken());
			long writes = 0;
			while (lock.isHeld()) {
				writes++;
				Thread.sleep(5);
			}
			test.say("lost " + writes);
			test.hear();
		}
	}

	/**
	 * Waits for a lock until the inbox is there, so the wait that follows does not poll.
	 */
	private static void openInbox(Instance instance, int port) throws Exception {
		String key = "warm-up-" + ProcessHandle.current().pid();
		try (RespClient redis = new RespClient(port, Duration.ofSeconds(10))) {
			String inbox;
			do {
				redis.command("SET", "lock:" + key, "a foreign client", "PX", "500");
				HeldLock lock = instance.locks().acquire(LockRequest.of(key).waitTime(Duration.ofMinutes(1)));
				String owner = String.valueOf(redis.command("GET", "lock:" + key));
				inbox = "lock:inbox:" + owner.substring(0, owner.indexOf('.'));
				lock.close();
			}
			while (!(redis.command("PUBSUB", "CHANNELS", inbox) instanceof List<?> found) || found.isEmpty());
			// the message that confirms it
			Thread.sleep(500);
		}
	}

}
