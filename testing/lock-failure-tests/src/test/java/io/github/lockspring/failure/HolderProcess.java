package io.github.lockspring.failure;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.redis.Instance;
import io.github.lockspring.testsupport.process.Conversation;
import io.github.lockspring.testsupport.process.JavaProcess;

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
			.waitTime(Duration.ofMinutes(1));
		Conversation test = new Conversation();
		try (Instance instance = Instance.on(Integer.parseInt(args[0]))) {
			// so the wait that follows does not poll
			instance.openInbox();
			instance.awaitInbox();
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

}
