package io.github.lockspring.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;

import io.github.lockspring.store.AcquireAnswer;
import io.github.lockspring.store.AcquireAnswer.Acquired;
import io.github.lockspring.store.AcquireQuestion;
import io.github.lockspring.store.AcquireQuestion.Look;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.ReleaseAnswer;
import io.github.lockspring.store.ReleaseQuestion;
import io.github.lockspring.store.RenewAnswer;
import io.github.lockspring.store.RenewQuestion;

/**
 * Asks questions in few words.
 */
final class StoreFixture {

	static final Duration TTL = Duration.ofSeconds(30);

	static final Duration PATIENT = Duration.ofSeconds(10);

	static final RedisStoreSettings SETTINGS = new RedisStoreSettings("lock:", PATIENT, true);

	private static final AtomicLong SEQUENCE = new AtomicLong();

	private static final String INSTANCE = "fixture%015d".formatted(ThreadLocalRandom.current().nextInt(1 << 30));

	private StoreFixture() {
	}

	static OwnerToken token() {
		return token(INSTANCE);
	}

	static OwnerToken token(String instance) {
		return new OwnerToken(instance, SEQUENCE.incrementAndGet(), 1000);
	}

	static String instance(int number) {
		return INSTANCE.substring(0, 20) + "%02d".formatted(number);
	}

	static AcquireAnswer acquire(LockStore store, String key, OwnerToken token) {
		return acquire(store, key, token, Look.ONCE, PATIENT);
	}

	static AcquireAnswer acquire(LockStore store, String key, OwnerToken token, Look look, Duration timeout) {
		return store.acquire(new AcquireQuestion(key, token, TTL, look), timeout);
	}

	static boolean isAcquired(LockStore store, String key, OwnerToken token) {
		return acquire(store, key, token) instanceof Acquired;
	}

	static ReleaseAnswer release(LockStore store, String key, OwnerToken token) {
		return store.release(new ReleaseQuestion(key, token), PATIENT);
	}

	static List<RenewAnswer> renew(LockStore store, String key, OwnerToken token) {
		return store.renew(List.of(new RenewQuestion(key, token, TTL)), PATIENT);
	}

}
