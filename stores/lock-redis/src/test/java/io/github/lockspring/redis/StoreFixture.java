package io.github.lockspring.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;

import io.github.lockspring.internal.Stages;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.AcquireResult.Acquired;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.testsupport.store.JoinedStore;

import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Asks requests in few words.
 */
public final class StoreFixture {

	public static final Duration TTL = Duration.ofSeconds(30);

	public static final Duration PATIENT = Duration.ofSeconds(10);

	private static final AtomicLong SEQUENCE = new AtomicLong(System.currentTimeMillis() * 1000);

	private static final String INSTANCE = "fixture%015d".formatted(ThreadLocalRandom.current().nextInt(1 << 30));

	private StoreFixture() {
	}

	public static RedisLockStore store(RedisConnectionFactory factory, Duration commandTimeout) {
		return RedisLockStore.builder(factory).commandTimeout(commandTimeout).build();
	}

	public static OwnerToken token() {
		return token(INSTANCE);
	}

	public static OwnerToken token(String instance) {
		return new OwnerToken(instance, SEQUENCE.incrementAndGet(), 1000);
	}

	public static String instance(int number) {
		return INSTANCE.substring(0, 20) + "%02d".formatted(number);
	}

	public static AcquireResult acquire(LockStore store, String key, OwnerToken token) {
		return acquire(store, key, token, false, PATIENT);
	}

	public static AcquireResult acquire(LockStore store, String key, OwnerToken token, boolean queue,
			Duration timeout) {
		return connected(store).acquire(new AcquireRequest(key, token, TTL, queue), timeout);
	}

	public static boolean isAcquired(LockStore store, String key, OwnerToken token) {
		return acquire(store, key, token) instanceof Acquired;
	}

	public static ReleaseResult release(LockStore store, String key, OwnerToken token) {
		return connected(store).release(new ReleaseRequest(key, token), PATIENT);
	}

	public static List<RenewResult> renew(LockStore store, String key, OwnerToken token) {
		return connected(store).renew(List.of(new RenewRequest(key, token, TTL)), PATIENT);
	}

	/** Waits for the first connection, as an instance does. */
	public static JoinedStore connected(LockStore store) {
		Stages.join(store.connected(), PATIENT.multipliedBy(2));
		return new JoinedStore(store);
	}

}
