package io.github.lockspring.redis;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class RedisLockStoreBuilderTests {

	private final RedisLockStore.Builder builder = RedisLockStore.builder(new JedisConnectionFactory());

	@Test
	void defaultsAreThoseOfTheDocumentation() {
		try (RedisLockStore store = this.builder.build()) {
			assertThat(store).extracting("settings")
				.isEqualTo(new RedisStoreSettings("lock:", Duration.ofSeconds(1), Duration.ofSeconds(5), 0));
		}
	}

	@Test
	void emptyPrefixIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(this.builder.keyPrefix("")::build)
			.withMessageContaining("keyPrefix must not be empty");
	}

	@Test
	void prefixWithABraceIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(this.builder.keyPrefix("{app}:")::build)
			.withMessageContaining("keyPrefix must not have braces")
			.withMessageContaining("'{app}:'");
	}

	@Test
	void negativeNumberOfReplicasIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(this.builder.replicaAcks(-1)::build)
			.withMessageContaining("replicaAcks must be at least 0, but is -1");
	}

	@Test
	void replicasAreWaitedForDuringHalfOfTheCommandTimeoutAndNeverWithoutEnd() {
		assertThat(new RedisStoreSettings("lock:", Duration.ofSeconds(1), Duration.ofSeconds(5), 2).replicaAckTimeout())
			.isEqualTo(Duration.ofMillis(500));
		assertThatIllegalArgumentException()
			.isThrownBy(this.builder.commandTimeout(Duration.ofMillis(1)).replicaAcks(2)::build)
			.withMessageContaining("commandTimeout with replicaAcks must be at least 2ms, but is 1ms");
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

	@Test
	void timeoutBelowAMillisecondIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(this.builder.commandTimeout(Duration.ofNanos(10))::build)
			.withMessageContaining("commandTimeout must be at least 1ms, but is 0ms");
		assertThatIllegalArgumentException()
			.isThrownBy(this.builder.commandTimeout(Duration.ofSeconds(1)).connectTimeout(Duration.ZERO)::build)
			.withMessageContaining("connectTimeout must be at least 1ms, but is 0ms");
	}

}
