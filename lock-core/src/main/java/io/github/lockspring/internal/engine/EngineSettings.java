package io.github.lockspring.internal.engine;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Settings of an engine. The creator validates the values.
 *
 * @param ttl lease of a lock whose request gives none; it is renewed
 * @param waitTime longest wait of a request that gives none
 * @param maxHold longest hold of a renewed lock whose request gives none; null: no bound
 * @param commandTimeout longest wait for a result of the store; for a short lease a third
 * of its ttl
 * @param shutdownTimeout how long {@link LockEngine#stop()} waits for work under a lock
 * to end
 * @param asyncRelease whether a caller goes on when its release is on its way
 * @since 0.1
 */
public record EngineSettings(Duration ttl, Duration waitTime, @Nullable Duration maxHold, Duration commandTimeout,
		Duration shutdownTimeout, boolean asyncRelease) {

	/**
	 * Returns the settings of an application that sets nothing.
	 * @return the defaults
	 */
	public static EngineSettings defaults() {
		return new EngineSettings(Duration.ofSeconds(30), Duration.ofSeconds(5), null, Duration.ofSeconds(1),
				Duration.ofSeconds(10), false);
	}

}
