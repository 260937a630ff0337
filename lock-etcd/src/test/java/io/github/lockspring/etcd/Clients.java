package io.github.lockspring.etcd;

import java.time.Duration;

import io.etcd.jetcd.Client;

/**
 * Clients for tests.
 */
final class Clients {

	private Clients() {
	}

	static Client of(String... addresses) {
		return Client.builder()
			.endpoints(addresses)
			.connectTimeout(Duration.ofSeconds(2))
			.retryMaxAttempts(1)
			.waitForReady(false)
			.build();
	}

}
