package io.github.lockspring.redis.internal.client;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.redis.Driver;
import io.github.lockspring.testsupport.redis.RedisServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.RedisCallback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Callers of a single server send their commands themselves over Jedis.
 */
class CallerConnectionsTests {

	private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(20);

	private final RedisServer server = RedisServer.start();

	private final RedisConnectionFactory application = Driver.JEDIS.factory(this.server.port());

	private final RedisConnections connections = RedisConnectionsFactory.create(this.application, COMMAND_TIMEOUT,
			COMMAND_TIMEOUT);

	@BeforeEach
	void warmUp() {
		assertThat(thread()).isNotSameAs(Thread.currentThread());
		await().until(() -> thread() == Thread.currentThread());
	}

	@AfterEach
	void close() {
		this.connections.close();
		this.server.close();
	}

	private Thread thread() {
		return call((text) -> Thread.currentThread(), "", COMMAND_TIMEOUT);
	}

	private String echo(String text, Duration timeout) {
		return call((reply) -> reply, text, timeout);
	}

	private <T> T call(java.util.function.Function<String, T> result, String text, Duration timeout) {
		return this.connections.call(RedisConnections.ANY_SHARD, (template) -> {
			byte[] reply = template.execute((RedisCallback<byte[]>) (connection) -> connection.echo(text.getBytes()));
			return result.apply(new String(reply));
		}, timeout);
	}

	@Test
	void callersAtOnceHaveConnectionsOfTheirOwn() throws Exception {
		int callers = 12;
		CountDownLatch inside = new CountDownLatch(callers);
		Set<CompletableFuture<String>> replies = ConcurrentHashMap.newKeySet();
		for (int i = 0; i < callers; i++) {
			String text = "caller " + i;
			replies.add(CompletableFuture.supplyAsync(() -> call((reply) -> {
				inside.countDown();
				try {
					assertThat(inside.await(20, TimeUnit.SECONDS)).isTrue();
				}
				catch (InterruptedException ex) {
					Thread.currentThread().interrupt();
				}
				return reply;
			}, text, COMMAND_TIMEOUT), (task) -> new Thread(task).start()).thenApply((reply) -> {
				assertThat(reply).isEqualTo(text);
				return reply;
			}));
		}
		for (CompletableFuture<String> reply : replies) {
			reply.get(30, TimeUnit.SECONDS);
		}
	}

	@Test
	void silenceEndsTheCallInTimeAndItsReplyIsNeverThatOfALaterCall() {
		this.server.pause();
		long start = System.nanoTime();
		assertThatExceptionOfType(QueryTimeoutException.class).isThrownBy(() -> echo("first", Duration.ofMillis(300)));
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(Duration.ofMillis(290),
				COMMAND_TIMEOUT.dividedBy(2));
		this.server.resume();
		for (int i = 0; i < 10; i++) {
			assertThat(echo("later " + i, COMMAND_TIMEOUT)).isEqualTo("later " + i);
		}
		await().until(() -> thread() == Thread.currentThread());
	}

	@Test
	void eachCallHasItsOwnTimeout() {
		assertThat(echo("brief", Duration.ofSeconds(2))).isEqualTo("brief");
		this.server.pause();
		CompletableFuture.delayedExecutor(1, TimeUnit.SECONDS).execute(this.server::resume);
		assertThat(echo("patient", COMMAND_TIMEOUT)).isEqualTo("patient");
		assertThatExceptionOfType(QueryTimeoutException.class).isThrownBy(() -> echo("none", Duration.ZERO));
	}

	@Test
	void restartOfTheServerIsNotNoticed() {
		this.server.restart();
		assertThat(echo("back", COMMAND_TIMEOUT)).isEqualTo("back");
		await().until(() -> thread() == Thread.currentThread());
	}

	@Test
	void errorReplyKeepsTheConnection() {
		Thread thread = this.connections.call(RedisConnections.ANY_SHARD, (template) -> {
			try {
				template.execute((RedisCallback<Object>) (connection) -> connection.execute("NOSUCHCOMMAND"));
			}
			catch (RuntimeException ex) {
				assertThat(ex).hasStackTraceContaining("unknown command");
			}
			return Thread.currentThread();
		}, COMMAND_TIMEOUT);
		assertThat(thread).isSameAs(Thread.currentThread());
		assertThatExceptionOfType(RuntimeException.class)
			.isThrownBy(() -> this.connections.call(RedisConnections.ANY_SHARD,
					(template) -> template
						.execute((RedisCallback<Object>) (connection) -> connection.execute("NOSUCHCOMMAND")),
					COMMAND_TIMEOUT));
		assertThat(thread()).isSameAs(Thread.currentThread());
	}

}
