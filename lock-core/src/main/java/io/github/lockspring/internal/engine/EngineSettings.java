package io.github.lockspring.internal.engine;

import java.time.Duration;

import io.github.lockspring.internal.base.LockOptions;
import org.jspecify.annotations.Nullable;

/**
 * Settings of an engine.
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
	 * Checks the values.
	 * @throws IllegalArgumentException if one is out of its range
	 */
	public EngineSettings {
		check("ttl", ttl, LockOptions.MIN_RENEWED_TTL);
		check("waitTime", waitTime, Duration.ZERO);
		if (maxHold != null) {
			check("maxHold", maxHold, ttl);
		}
		check("commandTimeout", commandTimeout, Duration.ofMillis(1));
		check("shutdownTimeout", shutdownTimeout, Duration.ZERO);
	}

	private static void check(String name, Duration value, Duration min) {
		if (value.compareTo(min) < 0 || value.compareTo(LockOptions.MAX_DURATION) > 0) {
			throw new IllegalArgumentException(
					name + " must be between " + min + " and " + LockOptions.MAX_DURATION + ", not " + value);
		}
	}

	/**
	 * Returns settings with another release.
	 * @param asyncRelease whether a caller goes on when its release is on its way
	 * @return the new settings
	 */
	public EngineSettings withAsyncRelease(boolean asyncRelease) {
		return new EngineSettings(this.ttl, this.waitTime, this.maxHold, this.commandTimeout, this.shutdownTimeout,
				asyncRelease);
	}

	/**
	 * Returns the settings of an application that sets nothing.
	 * @return the defaults
	 */
	public static EngineSettings defaults() {
		return new EngineSettings(Duration.ofSeconds(30), Duration.ofSeconds(5), null, Duration.ofSeconds(1),
				Duration.ofSeconds(10), false);
	}

}
