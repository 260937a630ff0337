package io.github.lockspring.lab.experiment;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import io.github.lockspring.testsupport.redis.RedisServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.bootstrap.DefaultBootstrapContext;
import org.springframework.boot.context.event.ApplicationEnvironmentPreparedEvent;
import org.springframework.mock.env.MockEnvironment;
import org.springframework.web.server.ResponseStatusException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The experiments of the page, on real processes.
 */
class ExperimentsTests {

	private static final int PORT = RedisServer.freePort();

	private final Experiments experiments = new Experiments(true);

	@BeforeAll
	static void startRedis() {
		startRedis(PORT);
	}

	/** Lets an instance of the shop in this JVM start its Redis. */
	static void startRedis(int port) {
		MockEnvironment environment = new MockEnvironment().withProperty("lab.redis.port", String.valueOf(port));
		new EmbeddedRedis().onApplicationEvent(new ApplicationEnvironmentPreparedEvent(new DefaultBootstrapContext(),
				new SpringApplication(), new String[0], environment));
	}

	@AfterAll
	static void stopRedis() throws IOException {
		EmbeddedRedis.close();
		await().until(() -> !EmbeddedRedis.answersPing(PORT));
	}

	@Test
	void redisIsStoppedAndContinuesThenIsKilledAndComesBack() {
		// again, if a busy machine comes too late to see it
		await().ignoreExceptions().until(this::stopsAndRefusesAnother);
		await().until(() -> EmbeddedRedis.answersPing(PORT));
		long first = EmbeddedRedis.process().orElseThrow().pid();
		await().ignoreExceptions().until(() -> this.experiments.kill("redis").containsKey("killed"));
		await().until(() -> EmbeddedRedis.process().filter((server) -> server.pid() != first).isPresent());
		await().until(() -> EmbeddedRedis.answersPing(PORT));
	}

	/** Whether a second experiment is refused, and the first one seen, in two seconds. */
	private boolean stopsAndRefusesAnother() throws IOException {
		long redis = EmbeddedRedis.process().orElseThrow().pid();
		this.experiments.stop("redis", 2);
		long begin = System.nanoTime();
		boolean stopped = false;
		while (!stopped && System.nanoTime() - begin < TimeUnit.SECONDS.toNanos(3)) {
			stopped = state(redis).startsWith("T");
		}
		assertThatExceptionOfType(ResponseStatusException.class).isThrownBy(() -> this.experiments.kill("redis"))
			.withMessageContaining("Another experiment is going on");
		return stopped;
	}

	/** So that no experiment leaves a process that stands for ever. */
	@Test
	void processContinuesAndIsKilledOnlyThen() throws Exception {
		Process sleep = new ProcessBuilder("sleep", "600").start();
		AtomicReference<Process> shell = new AtomicReference<>(Experiments.strike("STOP", sleep.toHandle(), 1).start());
		await().until(() -> {
			if (state(sleep.pid()).startsWith("T")) {
				return true;
			}
			if (!shell.get().isAlive()) {
				// over before it was seen
				shell.set(Experiments.strike("STOP", sleep.toHandle(), 1).start());
			}
			return false;
		});
		assertThat(shell.get().waitFor()).isZero();
		await().until(() -> state(sleep.pid()).startsWith("S"));
		assertThat(sleep.isAlive()).isTrue();
		Experiments.strike("KILL", sleep.toHandle(), 0).start();
		assertThat(sleep.waitFor()).isEqualTo(128 + 9);
	}

	@Test
	void wrongTargetsAndTimesAreRefused() {
		assertThatExceptionOfType(ResponseStatusException.class).isThrownBy(() -> this.experiments.stop("redis", 61))
			.withMessageContaining("1 to 60 seconds, not 61");
		assertThatExceptionOfType(ResponseStatusException.class).isThrownBy(() -> this.experiments.kill("init"))
			.withMessageContaining("only redis and instance");
	}

	private static String state(long pid) throws IOException {
		Process ps = new ProcessBuilder("ps", "-o", "state=", "-p", String.valueOf(pid)).start();
		return new String(ps.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).strip();
	}

}
