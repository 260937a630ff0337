package io.github.lockspring.internal.engine;

import java.time.Duration;

import io.github.lockspring.LockEvent;
import org.jspecify.annotations.Nullable;

/**
 * The events of the engine.
 */
final class LockOccurrence {

	record Acquired(String key, @Nullable String name, long fencingToken,
			Duration waited) implements LockEvent.Acquired {
	}

	record NotAcquired(String key, @Nullable String name, Duration waited) implements LockEvent.NotAcquired {
	}

	record Unavailable(String key, @Nullable String name, Duration waited,
			Throwable cause) implements LockEvent.Unavailable {
	}

	record Lost(String key, @Nullable String name, long fencingToken, Duration held, LockEvent.Lost.Cause cause,
			String reason) implements LockEvent.Lost {
	}

	record Released(String key, @Nullable String name, long fencingToken, Duration held) implements LockEvent.Released {
	}

	private LockOccurrence() {
	}

}
