package io.github.lockspring.redis.redlock;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;

import io.github.lockspring.testsupport.redis.RespClient;

/**
 * Redlock as it is often written: one server after the other, with no thought for what a
 * server may have forgotten, nor for the time that all this takes.
 */
final class NaiveRedlock {

	private final List<Integer> ports;

	NaiveRedlock(List<Integer> ports) {
		this.ports = ports;
	}

	/** Whether a majority said yes. */
	boolean tryLock(String key, String owner, Duration ttl) {
		int votes = 0;
		for (int port : this.ports) {
			try (RespClient client = new RespClient(port, Duration.ofSeconds(10))) {
				Object answer = client.command("SET", key, owner, "NX", "PX", String.valueOf(ttl.toMillis()));
				votes += "OK".equals(answer) ? 1 : 0;
			}
			catch (IOException | UncheckedIOException ex) {
				// no vote
			}
		}
		return votes > this.ports.size() / 2;
	}

}
