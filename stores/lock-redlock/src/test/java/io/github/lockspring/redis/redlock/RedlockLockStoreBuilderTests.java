package io.github.lockspring.redis.redlock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.UnaryOperator;

import io.github.lockspring.redis.Driver;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.mockito.Mockito.mock;

class RedlockLockStoreBuilderTests {

	private static final List<RedisConnectionFactory> NODES = Driver.LETTUCE.redlockNodes(1, 2, 3);

	@Test
	void defaultsAreThoseOfTheDocumentation() {
		try (RedlockLockStore store = RedlockLockStore.builder(NODES).build()) {
			assertThat(store).extracting("settings")
				.isEqualTo(new RedlockSettings("lock:", Duration.ofSeconds(1), Duration.ofSeconds(5),
						Duration.ofMillis(200), 0.01, Duration.ofSeconds(30), false));
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 2, 4, 6 })
	void numberOfNodesThatHasNoMajorityOfItsOwnIsRefused(int number) {
		List<RedisConnectionFactory> nodes = new ArrayList<>(Collections.nCopies(number, NODES.get(0)));
		assertThatIllegalArgumentException().isThrownBy(RedlockLockStore.builder(nodes)::build)
			.withMessageContaining("3, 5 or another odd number of nodes, but there are " + number);
	}

	@Test
	void serverThatIsNamedTwiceIsRefused() {
		assertThatIllegalArgumentException()
			.isThrownBy(RedlockLockStore.builder(Driver.LETTUCE.redlockNodes(1, 2, 1))::build)
			.withMessageContaining("a server of its own, but there are two called 127.0.0.1:1");
	}

	@Test
	void nodesWithoutAKnownAddressAreNumbered() {
		List<RedisConnectionFactory> unknown = List.of(mock(RedisConnectionFactory.class),
				mock(RedisConnectionFactory.class), mock(RedisConnectionFactory.class));
		try (RedlockLockStore store = RedlockLockStore.builder(unknown).build()) {
			assertThat(store.health(Duration.ofMillis(100)).orElseThrow().servers())
				.extracting((server) -> server.name().substring(0, 2))
				.containsExactly("#1", "#2", "#3");
		}
	}

	@Test
	void valuesOutOfBoundsAreNamed() {
		assertRefused((builder) -> builder.keyPrefix("a{b}"), "keyPrefix must not have braces");
		assertRefused((builder) -> builder.commandTimeout(Duration.ofMillis(4)),
				"commandTimeout must be at least 5ms, but is 4ms");
		assertRefused((builder) -> builder.connectTimeout(Duration.ZERO),
				"connectTimeout must be at least 1ms, but is 0ms");
		assertRefused((builder) -> builder.maxTtl(Duration.ZERO), "maxTtl must be at least 1ms, but is 0ms");
	}

	private static void assertRefused(UnaryOperator<RedlockLockStore.Builder> option, String message) {
		assertThatIllegalArgumentException().isThrownBy(option.apply(RedlockLockStore.builder(NODES))::build)
			.withMessageContaining(message);
	}

}
