package io.github.lockspring.redis.internal;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.redis.internal.client.RedisConnections;
import io.github.lockspring.redis.internal.client.RedisErrors;
import io.github.lockspring.store.StoreHealth.Server;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.core.RedisCallback;

/**
 * Checks what matters to locks on a server, in a cluster on each master. Changes nothing.
 *
 * @param commands sends the commands
 * @param replicaAcks how many replicas must have a lock, 0 for none
 * @since 0.1
 */
public record RedisServerCheck(RedisConnections commands, int replicaAcks) {

	private static final String POLICY = "maxmemory_policy";

	/**
	 * Checks the server.
	 * @param name its name
	 * @return its health; not usable if it does not reply
	 */
	public Server check(String name) {
		List<String> warnings = new ArrayList<>();
		try {
			Long millis = this.commands.run((template) -> template
				.execute((RedisCallback<@Nullable Long>) (connection) -> connection.serverCommands()
					.time(TimeUnit.MILLISECONDS)));
			checkEviction(warnings);
			String problem = (this.replicaAcks > 0) ? checkReplicas(warnings) : null;
			return new Server(name, problem, (millis != null) ? Instant.ofEpochMilli(millis) : null, warnings);
		}
		catch (LockUnavailableException ex) {
			return Server.unusable(name, String.valueOf(ex.getMessage()));
		}
	}

	private void checkEviction(List<String> warnings) {
		Properties memory = info("memory", warnings, "whether it evicts locks is not known");
		// in a cluster each name begins with the node
		for (String property : memory.stringPropertyNames()) {
			String policy = memory.getProperty(property);
			boolean limited = property.endsWith(POLICY)
					&& !memory.getProperty(property.substring(0, property.length() - "_policy".length()), "0")
						.equals("0");
			if (limited && !policy.equals("noeviction")) {
				warnings.add("its maxmemory-policy is " + policy
						+ ", which removes locks when its memory is used up: set it to noeviction");
			}
		}
	}

	private @Nullable String checkReplicas(List<String> warnings) {
		Properties replication = info("replication", warnings, "how many replicas it has is not known");
		if (replication.isEmpty()) {
			return null;
		}
		long online = replication.stringPropertyNames()
			.stream()
			.filter((property) -> property.matches("slave\\d+"))
			.filter((property) -> replication.getProperty(property).contains("state=online"))
			.count();
		return (online >= this.replicaAcks) ? null : "distributed-lock.redis.replica-acks is " + this.replicaAcks
				+ ", and only " + online + " replica(s) are connected: no lock can be acquired";
	}

	private Properties info(String section, List<String> warnings, String consequence) {
		try {
			Properties info = this.commands.run((template) -> template.execute(
					(RedisCallback<@Nullable Properties>) (connection) -> connection.serverCommands().info(section)));
			return (info != null) ? info : new Properties();
		}
		catch (LockUnavailableException ex) {
			if (!RedisErrors.isErrorReply(ex)) {
				throw ex;
			}
			warnings.add("it refuses INFO, so " + consequence + ": " + ex.getMessage());
			return new Properties();
		}
	}

}
