package io.github.lockspring.redis;

import java.time.Duration;

import io.github.lockspring.redis.internal.RedisKeys;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.testsupport.store.RecordingListener.Wanted;
import io.github.lockspring.testsupport.store.RecordingListener;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The contract of stores when both replicas have to acknowledge each lock.
 */
@Tag("contracts")
@ParameterizedClass
@EnumSource
class RedisLockStoreReplicaAcksTests extends RedisLockStoreSentinelTests {

	@Override
	protected LockStore createStore() {
		return RedisLockStore.builder(applicationFactory())
			.commandTimeout(Duration.ofSeconds(8))
			.replicaAcks(2)
			.build();
	}

	/** A hand-over is only a hint: nobody has waited for replicas to have it. */
	@Override
	protected long awaitGrant(RecordingListener listener, OwnerToken token, boolean othersWait) {
		await().until(() -> listener.wanted.contains(new Wanted(this.key, token)));
		assertThat(listener.grants).isEmpty();
		return Long.parseLong(get(new RedisKeys("lock:").lockAndFencingToken(this.key).get(1)));
	}

}
