package io.github.lockspring.failure;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.github.lockspring.testsupport.redis.RedisServer;
import io.github.lockspring.testsupport.redis.RespClient;
import org.jspecify.annotations.Nullable;

/**
 * Reads along what is sent to the inboxes. By a pattern, which the server does not count
 * as a subscriber of an inbox.
 */
final class GrantWatch implements AutoCloseable {

	private record Hunt(String instance, Runnable shot) {
	}

	private final RespClient client;

	private final Map<String, Long> last = new ConcurrentHashMap<>();

	private volatile @Nullable Hunt hunt;

	GrantWatch(RedisServer server) throws IOException {
		this.client = server.connect();
		this.client.command("PSUBSCRIBE", "lock:inbox:*");
		Thread thread = new Thread(this::run, "grant-watch");
		thread.setDaemon(true);
		thread.start();
	}

	private void run() {
		try {
			while (true) {
				try {
					receive((String) ((List<?>) this.client.read()).get(3));
				}
				catch (SocketTimeoutException ex) {
					// processes that take long to start send nothing
				}
			}
		}
		catch (IOException ex) {
			// closed
		}
	}

	private void receive(String message) {
		if (message.startsWith("g ")) {
			String[] words = message.split(" ");
			granted(words[1].substring(0, words[1].indexOf('.')), words[4]);
		}
	}

	private void granted(String instance, String lock) {
		Hunt hunt = this.hunt;
		if (hunt != null && hunt.instance.equals(instance)) {
			this.hunt = null;
			hunt.shot.run();
		}
		this.last.put(instance + ' ' + lock, System.nanoTime());
	}

	/** Does something at the next grant to an instance, in the very moment. */
	void atNextGrant(String instance, Runnable shot) {
		this.hunt = new Hunt(instance, shot);
	}

	boolean wasGrantedAfter(String instance, String key, long time) {
		Long at = this.last.get(instance + " lock:" + key);
		return at != null && at - time > 0;
	}

	@Override
	public void close() {
		this.client.close();
	}

}
