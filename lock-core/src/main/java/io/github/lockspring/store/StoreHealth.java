package io.github.lockspring.store;

import java.time.Instant;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The state of a store's servers at one moment. Immutable.
 * <p>
 * The store SPI may change until 1.0.
 *
 * @param servers the servers; empty for a store in this process
 * @param required how many of them must be usable to acquire a lock
 * @param messages whether waiting instances receive messages; if false, they poll
 * @since 0.1
 */
public record StoreHealth(List<Server> servers, int required, boolean messages) {

	/**
	 * The state of one server.
	 *
	 * @param name the name of the server
	 * @param problem a sentence about why it is not usable; null if it is usable
	 * @param time its clock when it replied; null if unknown
	 * @param warnings sentences about risks for locks, or about facts that could not be
	 * verified
	 */
	public record Server(String name, @Nullable String problem, @Nullable Instant time, List<String> warnings) {

		/**
		 * Creates the state of a server that is not usable.
		 * @param name the name of the server
		 * @param problem a sentence about the reason
		 * @return the state
		 */
		public static Server unusable(String name, String problem) {
			return new Server(name, problem, null, List.of());
		}

	}

	/**
	 * Returns whether enough servers are usable to acquire locks.
	 * @return whether locks can be acquired
	 */
	public boolean isUsable() {
		return this.servers.stream().filter((server) -> server.problem() == null).count() >= this.required;
	}

}
