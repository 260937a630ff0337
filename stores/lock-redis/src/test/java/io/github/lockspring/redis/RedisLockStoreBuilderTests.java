package io.github.lockspring.redis;

import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;

import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class RedisLockStoreBuilderTests {

	@Test
	void defaultsAreThoseOfTheDocumentation() {
		try (RedisLockStore store = RedisLockStore.builder(new JedisConnectionFactory()).build()) {
			assertThat(store).extracting("settings")
				.isEqualTo(new RedisStoreSettings("lock:", Duration.ofSeconds(1), Duration.ofSeconds(5), 0));
		}
	}

	@Test
	void valuesOutOfBoundsAreNamed() {
		assertRefused((builder) -> builder.keyPrefix(""), "keyPrefix must not be empty");
		assertRefused((builder) -> builder.keyPrefix("{app}:"), "keyPrefix must not have braces", "'{app}:'");
		assertRefused((builder) -> builder.replicaAcks(-1), "replicaAcks must be at least 0, but is -1");
		assertRefused((builder) -> builder.commandTimeout(Duration.ofNanos(10)),
				"commandTimeout must be at least 1ms, but is 0ms");
		assertRefused((builder) -> builder.commandTimeout(Duration.ofMillis(1)).replicaAcks(2),
				"commandTimeout with replicaAcks must be at least 2ms, but is 1ms");
		assertRefused((builder) -> builder.connectTimeout(Duration.ZERO),
				"connectTimeout must be at least 1ms, but is 0ms");
	}

	private static void assertRefused(UnaryOperator<RedisLockStore.Builder> option, String... message) {
		RedisLockStore.Builder builder = option.apply(RedisLockStore.builder(new JedisConnectionFactory()));
		assertThatIllegalArgumentException().isThrownBy(builder::build).withMessageContainingAll(message);
	}

	@Test
	void replicasAreWaitedForDuringHalfOfTheCommandTimeout() {
		assertThat(new RedisStoreSettings("lock:", Duration.ofSeconds(1), Duration.ofSeconds(5), 2).replicaAckTimeout())
			.isEqualTo(Duration.ofMillis(500));
	}

	@Test
	void replicasAreNotWaitedForWhereTheMasterIsNotKnown() {
		RedisClusterConfiguration cluster = new RedisClusterConfiguration(List.of("127.0.0.1:1"));
		assertThatExceptionOfType(UnsupportedOperationException.class)
			.isThrownBy(RedisLockStore.builder(new JedisConnectionFactory(cluster)).replicaAcks(1)::build)
			.withMessageContaining("Redis Cluster");
		LettuceConnectionFactory masterAndReplicas = new LettuceConnectionFactory(
				new RedisStaticMasterReplicaConfiguration("127.0.0.1", 1));
		assertThatExceptionOfType(UnsupportedOperationException.class)
			.isThrownBy(RedisLockStore.builder(masterAndReplicas).replicaAcks(1)::build)
			.withMessageContaining("which server is the master");
	}

}
