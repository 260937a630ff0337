package io.github.lockspring.redis.internal.client;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;

import io.github.lockspring.redis.Driver;
import io.github.lockspring.redis.StoreFixture;
import io.github.lockspring.testsupport.network.TcpProxy;
import io.github.lockspring.testsupport.redis.RedisServer;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.core.script.DefaultRedisScript;
import org.springframework.data.redis.core.script.RedisScript;

import static org.assertj.core.api.Assertions.assertThat;

class BlockingConnectionsTests {

	private static final Duration SHORT = Duration.ofSeconds(1);

	private static final RedisScript<String> FAILING = new DefaultRedisScript<>("return redis.call('LPUSH', KEYS[1])",
			String.class);

	private static final RedisScript<String> ANSWERING = new DefaultRedisScript<>("return KEYS[1]", String.class);

	/** One connection, which the pool keeps. */
	@Test
	void shortTimeoutOfARequestIsNotThatOfTheNextOneWhateverTheReplyWas() {
		try (TcpProxy proxy = new TcpProxy(RedisServer.shared().port());
				RedisConnections connections = DerivedConnections.create(Driver.JEDIS.factory(proxy.port()), null,
						StoreFixture.PATIENT, StoreFixture.PATIENT)) {
			connections.run((template) -> template.hasKey("k"));
			for (RedisScript<String> script : List.of(ANSWERING, FAILING)) {
				CompletionStage<String> reply = connections.execute(script, List.of("k"), new Object[0], SHORT);
				assertThat(reply.toCompletableFuture().isCompletedExceptionally()).isEqualTo(script == FAILING);
				proxy.delay(SHORT);
				Boolean known = connections.run((template) -> template.hasKey("k"));
				assertThat(known).isFalse();
				proxy.restore();
			}
			assertThat(proxy.connections()).isEqualTo(1);
		}
	}

}
