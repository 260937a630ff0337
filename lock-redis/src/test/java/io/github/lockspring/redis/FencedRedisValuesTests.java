package io.github.lockspring.redis;

import java.time.Duration;
import java.util.List;

import io.github.lockspring.StaleFencingTokenException;
import io.github.lockspring.testsupport.redis.RedisServer;
import io.github.lockspring.testsupport.redis.RedisVersion;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.RedisOperations;
import org.springframework.data.redis.core.SessionCallback;
import org.springframework.data.redis.core.StringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assumptions.assumeThat;

class FencedRedisValuesTests {

	private static final RedisServer server = RedisServer.shared();

	private static final LettuceConnectionFactory factory = new LettuceConnectionFactory(server.host(), server.port());

	private static final String KEY = "report:latest";

	private static final String FENCE = "{report:latest}:fenced";

	private static final long LARGEST = (1L << 53) - 1;

	private final StringRedisTemplate redis = new StringRedisTemplate(factory);

	private final FencedRedisValues values = new FencedRedisValues(this.redis);

	@BeforeAll
	static void connect() {
		factory.afterPropertiesSet();
		factory.start();
	}

	@AfterAll
	static void disconnect() {
		factory.destroy();
	}

	@BeforeEach
	void flush() {
		server.flushAll();
	}

	@Test
	void valueIsAnOrdinaryOneWithItsTokenBesideIt() {
		this.values.set(KEY, "ä", 7);
		assertThat(this.redis.opsForValue().get(KEY)).isEqualTo("ä");
		assertThat(server.pttl(KEY)).isEqualTo(-1);
		assertThat(server.get(FENCE)).isEqualTo("7");
		assertThat(server.pttl(FENCE)).isBetween(Duration.ofDays(6).toMillis(), Duration.ofDays(7).toMillis());
		assertThat(server.keys()).containsExactlyInAnyOrder(KEY, FENCE);
	}

	@Test
	void laterAndEqualTokensWrite() {
		this.values.set(KEY, "a", 7);
		this.values.set(KEY, "b", 7);
		this.values.set(KEY, "c", LARGEST - 1);
		this.values.set(KEY, "d", LARGEST);
		assertThat(server.get(KEY)).isEqualTo("d");
		assertThat(server.get(FENCE)).isEqualTo(String.valueOf(LARGEST));
	}

	@Test
	void f03LateWriterIsRefusedAndChangesNothing() {
		this.values.set(KEY, "later", LARGEST);
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> this.values.set(KEY, "late", LARGEST - 1))
			.satisfies((ex) -> {
				assertThat(ex.getResource()).isEqualTo(KEY);
				assertThat(ex.getToken()).isEqualTo(LARGEST - 1);
				assertThat(ex.getLatest()).isEqualTo(LARGEST);
			});
		assertThatExceptionOfType(StaleFencingTokenException.class).isThrownBy(() -> this.values.delete(KEY, 1));
		assertThat(server.get(KEY)).isEqualTo("later");
		assertThat(server.get(FENCE)).isEqualTo(String.valueOf(LARGEST));
	}

	@Test
	void f03LateWriterDoesNotBringADeletedValueBack() {
		this.values.set(KEY, "a", 7);
		this.values.delete(KEY, 8);
		assertThat(server.keys()).containsExactly(FENCE);
		assertThatExceptionOfType(StaleFencingTokenException.class).isThrownBy(() -> this.values.set(KEY, "late", 7));
		assertThat(server.exists(KEY)).isFalse();
	}

	@Test
	void f03LateWriterIsRefusedByTheOldestServerToo() {
		assumeThat(RedisVersion.V6_2.banner()).as("Redis 6.2 runs on this machine").isNotEmpty();
		RedisServer old = RedisServer.shared(RedisVersion.V6_2);
		old.flushAll();
		LettuceConnectionFactory oldFactory = new LettuceConnectionFactory(old.host(), old.port());
		oldFactory.afterPropertiesSet();
		oldFactory.start();
		try {
			FencedRedisValues oldValues = new FencedRedisValues(new StringRedisTemplate(oldFactory));
			oldValues.set(KEY, "later", Duration.ofSeconds(30), LARGEST);
			assertThatExceptionOfType(StaleFencingTokenException.class)
				.isThrownBy(() -> oldValues.set(KEY, "late", LARGEST - 1));
			assertThat(old.get(KEY)).isEqualTo("later");
			oldValues.delete(KEY, LARGEST);
			assertThat(old.keys()).containsExactly(FENCE);
		}
		finally {
			oldFactory.destroy();
		}
	}

	@Test
	void valueMayExpireBeforeItsToken() {
		FencedRedisValues shortly = new FencedRedisValues(this.redis, Duration.ofMinutes(1));
		shortly.set(KEY, "a", Duration.ofSeconds(30), 7);
		assertThat(server.pttl(KEY)).isBetween(25_000L, 30_000L);
		assertThat(server.pttl(FENCE)).isBetween(55_000L, 60_000L);
		shortly.set(KEY, "b", 7);
		assertThat(server.pttl(KEY)).isEqualTo(-1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "plain", "a{tag}b", "{}empty", "open{", "close}", "} {x}" })
	void tokenLivesInTheSlotOfItsKey(String key) {
		this.values.set(key, "a", 7);
		String sibling = server.keys().stream().filter((each) -> !each.equals(key)).findFirst().orElseThrow();
		assertThat(sibling).contains("fenced").contains(key);
		assertThat(server.get(sibling)).isEqualTo("7");
	}

	@Test
	void transactionAndPipelineOfRedisAreRefused() {
		assertThatIllegalStateException().isThrownBy(() -> this.redis.execute(new SessionCallback<Object>() {

			@Override
			public <K, V> Object execute(RedisOperations<K, V> operations) throws DataAccessException {
				operations.multi();
				new FencedRedisValues((StringRedisTemplate) operations).set(KEY, "a", 7);
				return List.of();
			}

		})).withMessageContainingAll(KEY, "MULTI");
	}

	@Test
	void argumentsWithoutMeaningAreRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.values.set(KEY, "a", 0));
		assertThatIllegalArgumentException().isThrownBy(() -> this.values.set("", "a", 1));
		assertThatIllegalArgumentException().isThrownBy(() -> this.values.set(KEY, "a", Duration.ZERO, 1));
		assertThatIllegalArgumentException().isThrownBy(() -> new FencedRedisValues(this.redis, Duration.ofMillis(10)));
	}

}
