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

class RedisStoreSettingsTests {

	@Test
	void defaultsAreThoseOfTheDocumentation() {
		assertThat(new RedisStoreSettings()).isEqualTo(new RedisStoreSettings("lock:", Duration.ofSeconds(1), true));
	}

	@Test
	void emptyPrefixIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> new RedisStoreSettings("", Duration.ofSeconds(1), true))
			.withMessageContaining("must not be empty");
	}

	@Test
	void prefixWithABraceIsRefused() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new RedisStoreSettings("{app}:", Duration.ofSeconds(1), true))
			.withMessageContaining("'{app}:'");
	}

	@Test
	void negativeNumberOfReplicasIsRefused() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new RedisStoreSettings().withReplicaAcks(-1, Duration.ofMillis(100)))
			.withMessageContaining("at least 0");
	}

	@Test
	void waitForReplicasThatIsNotShorterThanTheCommandIsRefusedUnlessUnused() {
		for (Duration wait : List.of(Duration.ofSeconds(1), Duration.ZERO)) {
			assertThatIllegalArgumentException().isThrownBy(() -> new RedisStoreSettings().withReplicaAcks(1, wait))
				.withMessageContaining("shorter than the command timeout");
			new RedisStoreSettings().withReplicaAcks(0, wait);
		}
	}

	@Test
	void replicasAreNotWaitedForWhereTheMasterIsNotKnown() {
		RedisStoreSettings settings = new RedisStoreSettings().withReplicaAcks(1, Duration.ofMillis(100));
		RedisClusterConfiguration cluster = new RedisClusterConfiguration(List.of("127.0.0.1:1"));
		assertThatExceptionOfType(UnsupportedOperationException.class)
			.isThrownBy(() -> RedisLockStore.create(new JedisConnectionFactory(cluster), settings))
			.withMessageContaining("Redis Cluster");
		assertThatExceptionOfType(UnsupportedOperationException.class)
			.isThrownBy(() -> RedisLockStore.create(
					new LettuceConnectionFactory(new RedisStaticMasterReplicaConfiguration("127.0.0.1", 1)), settings))
			.withMessageContaining("which server is the master");
	}

	@Test
	void timeoutBelowAMillisecondIsRefused() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new RedisStoreSettings("lock:", Duration.ofNanos(10), true))
			.withMessageContaining("at least 1ms");
	}

}
