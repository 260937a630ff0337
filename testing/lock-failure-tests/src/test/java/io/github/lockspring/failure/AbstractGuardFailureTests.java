package io.github.lockspring.failure;

import java.time.Duration;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.redis.Driver;
import io.github.lockspring.redis.Instance;
import io.github.lockspring.testsupport.redis.RedisServer;
import org.junit.jupiter.api.AfterEach;

import static org.awaitility.Awaitility.await;

/**
 * Two instances on a real server whose data can get lost, and a real database.
 */
abstract class AbstractGuardFailureTests {

	static final LockRequest REQUEST = LockRequest.of("order:42").waitTime(Duration.ofSeconds(20));

	static final LockRequest FIXED = REQUEST.ttl(Duration.ofSeconds(1)).renew(false);

	static final LockRequest LONG = REQUEST.ttl(Duration.ofSeconds(30)).renew(false);

	/** How the server loses a lock that lasts. */
	enum DataLoss {

		FLUSHED, RESTARTED_EMPTY, EVICTED

	}

	final RedisServer redis = RedisServer.start("--maxmemory", "4mb", "--maxmemory-policy", "volatile-ttl");

	final GuardedDatabase database = new GuardedDatabase();

	final Instance mine = warm(Instance.patient(Driver.LETTUCE, this.redis.port()));

	final Instance other = warm(Instance.patient(Driver.LETTUCE, this.redis.port()));

	/** With the timeout of an application, for a server that does not reply. */
	final Instance impatient = warm(Instance.on(this.redis.port()));

	static Instance warm(Instance instance) {
		instance.locks().acquire(LockRequest.of("warm-up").waitTime(Duration.ofMinutes(1))).close();
		instance.events().clear();
		return instance;
	}

	@AfterEach
	void stop() {
		this.redis.resume();
		this.mine.close();
		this.other.close();
		this.impatient.close();
		this.redis.close();
	}

	final void lose(DataLoss loss) {
		switch (loss) {
			case FLUSHED -> this.redis.flushAll();
			case EVICTED -> this.redis.evict("lock:order:42");
			case RESTARTED_EMPTY -> {
				this.redis.restart();
				// one request fails with its connection, and a verification is not
				// repeated
				await().ignoreExceptions()
					.until(() -> this.mine.locks().execute(LockRequest.of("another"), HeldLock::isHeld));
			}
		}
	}

}
