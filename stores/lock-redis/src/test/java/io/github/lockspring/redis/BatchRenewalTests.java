package io.github.lockspring.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;

import io.github.lockspring.internal.Stages;
import io.github.lockspring.redis.internal.RedisKeys;
import io.github.lockspring.redis.internal.client.DerivedConnections;
import io.github.lockspring.redis.internal.client.RedisConnections;
import io.github.lockspring.redis.internal.client.RedisScriptExecutor;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.testsupport.redis.RedisServer;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.core.script.RedisScript;

import static io.github.lockspring.redis.StoreFixture.PATIENT;
import static io.github.lockspring.redis.StoreFixture.TTL;
import static io.github.lockspring.redis.StoreFixture.token;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link BatchRenewal}.
 */
class BatchRenewalTests {

	private final OwnerToken token = token();

	/** Such a proxy sends a script to the server of its first key. Defect 24. */
	@Test
	void lockThatABatchDoesNotFindBehindAShardingProxyIsAskedForAlone() {
		try (RedisServer one = RedisServer.start();
				RedisServer other = RedisServer.start();
				RedisConnections toOne = connections(one);
				RedisConnections toOther = connections(other)) {
			set(one, "a");
			set(other, "b");
			set(other, "c");
			BatchRenewal renewal = new BatchRenewal(byFirstKey(toOne, toOther, "lock:b", "lock:c"),
					new RedisKeys("lock:"), false);
			assertThat(renew(renewal, "a", "b", "lost", "c")).containsExactly(RenewResult.RENEWED, RenewResult.RENEWED,
					RenewResult.NOT_OWNER, RenewResult.RENEWED);
			assertThat(other.pttl("lock:b")).isGreaterThan(TTL.toMillis() / 2);
		}
	}

	@Test
	void batchThatFindsAllLocksIsOneScript() {
		try (RedisServer server = RedisServer.start(); RedisConnections connections = connections(server)) {
			set(server, "a");
			set(server, "b");
			BatchRenewal renewal = new BatchRenewal(connections, new RedisKeys("lock:"), false);
			renew(renewal, "a");
			server.command("CONFIG", "RESETSTAT");
			assertThat(renew(renewal, "a", "b")).containsOnly(RenewResult.RENEWED);
			assertThat(server.calls("evalsha")).isEqualTo(1);
		}
	}

	private List<RenewResult> renew(BatchRenewal renewal, String... keys) {
		return Stages.join(renewal
			.renew(List.of(keys).stream().map((key) -> new RenewRequest(key, this.token, TTL)).toList(), PATIENT),
				PATIENT.multipliedBy(2));
	}

	private void set(RedisServer server, String key) {
		server.command("SET", "lock:" + key, this.token.toString(), "PX", String.valueOf(TTL.toMillis() / 2));
	}

	private static RedisConnections connections(RedisServer server) {
		return DerivedConnections.create(Driver.JEDIS.factory(server.port()), null, PATIENT, PATIENT);
	}

	private static RedisScriptExecutor byFirstKey(RedisConnections one, RedisConnections other, String... keys) {
		return new RedisScriptExecutor() {

			@Override
			public <T> CompletionStage<T> execute(RedisScript<T> script, List<String> scriptKeys, Object[] args,
					Duration timeout) {
				return (List.of(keys).contains(scriptKeys.get(0)) ? other : one).execute(script, scriptKeys, args,
						timeout);
			}

		};
	}

}
