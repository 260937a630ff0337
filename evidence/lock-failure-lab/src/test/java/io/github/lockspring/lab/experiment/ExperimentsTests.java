package io.github.lockspring.lab.experiment;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicReference;

import io.github.lockspring.testsupport.redis.RedisServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

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
		EmbeddedRedisTests.prepared("lab.redis.port", String.valueOf(PORT));
	}

	@AfterAll
	static void stopRedis() throws IOException {
		EmbeddedRedis.close();
		await().until(() -> !EmbeddedRedis.answersPing(PORT));
	}

	@Test
	void secondExperimentIsRefusedUntilTheFirstIsOver() {
		this.experiments.stop("redis", 5);
		assertThatExceptionOfType(ResponseStatusException.class).isThrownBy(() -> this.experiments.kill("redis"))
			.withMessageContaining("Another experiment is going on");
		await().ignoreExceptions().until(() -> this.experiments.stop("redis", 1).containsKey("stopped"));
		await().until(() -> EmbeddedRedis.answersPing(PORT));
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
