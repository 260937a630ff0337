package io.github.lockspring.autoconfigure.actuate;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.github.lockspring.autoconfigure.internal.CreatedEngine;
import io.github.lockspring.internal.engine.LockEngine.EngineHealth;
import io.github.lockspring.internal.engine.LockEngine;
import io.github.lockspring.store.StoreHealth.Server;
import io.github.lockspring.store.StoreHealth;

import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;

/**
 * Shows whether locks can be acquired: asks the store, without a lock, if the application
 * has used it. Down if no lock can be acquired now; what may cost locks is a warning.
 * Thread-safe.
 */
final class DistributedLocksHealthIndicator extends AbstractHealthIndicator {

	/** Below it, a slow reply explains the difference. */
	private static final Duration MAX_DIFFERENCE = Duration.ofSeconds(1);

	private final CreatedEngine engine;

	private final InstantSource clock;

	/**
	 * Creates an indicator.
	 * @param clock the clock of this machine
	 */
	DistributedLocksHealthIndicator(CreatedEngine engine, InstantSource clock) {
		super("The locks could not be checked");
		this.engine = engine;
		this.clock = clock;
	}

	@Override
	protected void doHealthCheck(Health.Builder builder) {
		LockEngine present = this.engine.find().orElse(null);
		if (present == null) {
			builder.unknown().withDetail("reason", "no lock was requested yet, so the store has not been asked");
			return;
		}
		Instant before = this.clock.instant();
		EngineHealth health = present.health().orElse(null);
		if (health == null) {
			builder.unknown().withDetail("reason", "the store cannot be checked");
			return;
		}
		Instant after = this.clock.instant();
		List<String> warnings = new ArrayList<>();
		Map<String, String> servers = new LinkedHashMap<>();
		for (Server server : health.store().servers()) {
			servers.put(server.name(), (server.problem() != null) ? server.problem() : "usable");
			server.warnings().forEach((warning) -> warnings.add(server.name() + ": " + warning));
			addClockWarning(server, before, after, warnings);
		}
		describe(builder, health, servers, warnings);
	}

	private static void describe(Health.Builder builder, EngineHealth health, Map<String, String> servers,
			List<String> warnings) {
		StoreHealth store = health.store();
		long usable = servers.values().stream().filter("usable"::equals).count();
		if (store.isUsable() && usable < servers.size()) {
			warnings.add((servers.size() - usable) + " of " + servers.size() + " servers are not usable; locks need "
					+ store.required());
		}
		builder.status(store.isUsable() ? Status.UP : Status.DOWN);
		if (!servers.isEmpty()) {
			builder.withDetail("servers", servers);
		}
		builder.withDetail("messages", messages(health, warnings));
		if (!warnings.isEmpty()) {
			builder.withDetail("warnings", warnings);
		}
	}

	private static String messages(EngineHealth health, List<String> warnings) {
		if (!health.store().messages()) {
			return "none: callers that wait poll";
		}
		Boolean confirmed = health.inbox();
		if (confirmed == null) {
			return "not needed";
		}
		if (!confirmed) {
			warnings.add("messages do not arrive at this instance now: callers that wait poll, and wait longer");
		}
		return confirmed ? "confirmed" : "not confirmed";
	}

	/** The server read its clock between the two times. */
	private static void addClockWarning(Server server, Instant before, Instant after, List<String> warnings) {
		Instant time = server.time();
		if (time == null) {
			return;
		}
		boolean ahead = time.isAfter(after);
		Duration difference = ahead ? Duration.between(after, time) : Duration.between(time, before);
		if (difference.compareTo(MAX_DIFFERENCE) > 0) {
			warnings.add(server.name() + ": its clock is " + difference.toMillis() + "ms "
					+ (ahead ? "ahead of" : "behind")
					+ " the clock of this machine. Leases do not depend on that; fencing tokens follow the clock of the"
					+ " server, and must not go back when another one takes over");
		}
	}

}
