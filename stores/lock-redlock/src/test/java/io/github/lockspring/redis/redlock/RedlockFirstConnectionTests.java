package io.github.lockspring.redis.redlock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.github.lockspring.redis.Driver;
import io.github.lockspring.redis.StoreFixture;
import io.github.lockspring.testsupport.redis.RedlockServers;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What is said about the first connections to the nodes, before any request.
 */
@ExtendWith(OutputCaptureExtension.class)
class RedlockFirstConnectionTests {

	@ParameterizedTest
	@EnumSource
	void majorityThatRefusesConnectionsIsOneWarningAndOneThatIsSilentIsNone(Driver driver, CapturedOutput output) {
		try (RedlockServers servers = RedlockServers.start(3)) {
			for (int node = 0; node < 3; node++) {
				servers.proxy(node).hold();
			}
			connect(driver.redlockNodes(servers.proxyPorts()), Duration.ofSeconds(1));
			assertThat(output).doesNotContain("Not connected: ");
			List<RedisConnectionFactory> refusing = new ArrayList<>(driver.redlockNodes(servers.ports()));
			refusing.set(0, driver.factory(new RedisStandaloneConfiguration("127.0.0.1", 1)));
			refusing.set(1, driver.factory(new RedisStandaloneConfiguration("127.0.0.1", 2)));
			connect(refusing, Duration.ofMinutes(5));
			assertThat(output).containsOnlyOnce("Not connected: ")
				.containsPattern("Not connected: [01] of 3 nodes replied, 2 needed: 127.0.0.1:1: Connection refused.*"
						+ "Requests for locks may fail until this is corrected");
		}
	}

	private static void connect(List<RedisConnectionFactory> nodes, Duration connectTimeout) {
		try (RedlockLockStore store = RedlockLockStore.builder(nodes)
			.commandTimeout(StoreFixture.PATIENT)
			.connectTimeout(connectTimeout)
			.build()) {
			store.connected();
			await().atMost(Duration.ofMinutes(1))
				.until(() -> Thread.getAllStackTraces()
					.keySet()
					.stream()
					.noneMatch((thread) -> thread.getName().equals("lock-redlock-first")));
		}
	}

}
