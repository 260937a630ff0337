package io.github.lockspring.lab.experiment;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.testsupport.redis.RedisServer;
import org.junit.jupiter.api.Test;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.bootstrap.DefaultBootstrapContext;
import org.springframework.boot.context.event.ApplicationEnvironmentPreparedEvent;
import org.springframework.mock.env.MockEnvironment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

class EmbeddedRedisTests {

	@Test
	void usesTheServerThatAnotherInstanceHasStarted() throws IOException {
		int port = RedisServer.freePort();
		Process redis = EmbeddedRedis.start(port);
		MockEnvironment environment = prepared("lab.redis.port", String.valueOf(port));
		assertThat(environment.getProperty("spring.data.redis.host")).isEqualTo("127.0.0.1");
		assertThat(environment.getProperty("spring.data.redis.port", Integer.class)).isEqualTo(port);
		assertThat(environment.getProperty("lab.redis.server")).contains("started by another instance");
		// here, one process is both instances
		Files.delete(EmbeddedRedis.users(port).resolve(String.valueOf(ProcessHandle.current().pid())));
		redis.getOutputStream().close();
		await().until(() -> !EmbeddedRedis.answersPing(port));
	}

	@Test
	void serverStaysWhileAnotherInstanceUsesIt() throws IOException, InterruptedException {
		int port = RedisServer.freePort();
		Process redis = EmbeddedRedis.start(port);
		Process other = new ProcessBuilder("sleep", "60").start();
		Path user = Files.createFile(EmbeddedRedis.users(port).resolve(String.valueOf(other.pid())));
		try {
			redis.getOutputStream().close();
			assertThat(redis.waitFor(2, TimeUnit.SECONDS)).isFalse();
			// an answer within half a second
			await().until(() -> EmbeddedRedis.answersPing(port));
		}
		finally {
			other.destroy();
			other.waitFor();
			// the server may have seen the end of that process, and have ended with its
			// folder
			Files.deleteIfExists(user);
		}
		await().until(() -> !EmbeddedRedis.answersPing(port));
	}

	@Test
	void serverIsInAProcessGroupOfItsOwn() throws IOException {
		Process redis = EmbeddedRedis.start(RedisServer.freePort());
		List<Long> server = redis.children()
			.filter((child) -> child.info().command().orElse("").contains("redis"))
			.map(ProcessHandle::pid)
			.toList();
		assertThat(server).hasSize(1);
		assertThat(group(server.get(0))).isEqualTo(server.get(0)).isNotEqualTo(group(ProcessHandle.current().pid()));
		redis.getOutputStream().close();
	}

	private static long group(long pid) throws IOException {
		Process ps = new ProcessBuilder("ps", "-o", "pgid=", "-p", String.valueOf(pid)).start();
		return Long.parseLong(new String(ps.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).strip());
	}

	@Test
	void startsNoServerWhereRedisUrlIsSet() {
		MockEnvironment environment = prepared("REDIS_URL", "redis://redis.example:6379");
		assertThat(environment.getProperty("spring.data.redis.url")).isEqualTo("redis://redis.example:6379");
		assertThat(environment.getProperty("spring.data.redis.host")).isNull();
	}

	@Test
	void startsNoServerWhereAConnectionIsConfigured() {
		assertThat(prepared("spring.data.redis.sentinel.master", "shop").getProperty("lab.redis.server"))
			.contains("spring.data.redis");
		assertThat(prepared("spring.data.redis.cluster.nodes", "127.0.0.1:7000").getProperty("lab.redis.server"))
			.contains("spring.data.redis");
		assertThat(prepared("spring.data.redis.host", "redis.example").getProperty("lab.redis.server"))
			.contains("spring.data.redis");
	}

	/** As a shop in this JVM would. */
	static MockEnvironment prepared(String property, String value) {
		MockEnvironment environment = new MockEnvironment().withProperty(property, value)
			.withProperty("spring.data.redis.timeout", "2s");
		new EmbeddedRedis().onApplicationEvent(new ApplicationEnvironmentPreparedEvent(new DefaultBootstrapContext(),
				new SpringApplication(), new String[0], environment));
		return environment;
	}

}
