package io.github.lockspring.store;

import java.time.Instant;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * What a store knows of the state of its servers at one moment. Immutable.
 * <p>
 * The store SPI may change until 1.0.
 *
 * @param servers its servers; empty for a store in this process
 * @param required how many of them must be usable for a lock to be acquired
 * @param messages whether instances that wait are sent messages; false where they poll
 * @since 0.1
 */
public record StoreHealth(List<Server> servers, int required, boolean messages) {

	/**
	 * One server.
	 *
	 * @param name its name
	 * @param problem why it is not usable, a sentence; null if it is
	 * @param time its clock when it replied; null if it is not known
	 * @param warnings what may cost locks or is not known, sentences
	 */
	public record Server(String name, @Nullable String problem, @Nullable Instant time, List<String> warnings) {

		/**
		 * Creates a server that is not usable.
		 * @param name its name
		 * @param problem why, a sentence
		 * @return the server
		 */
		public static Server unusable(String name, String problem) {
			return new Server(name, problem, null, List.of());
		}

	}

	/**
	 * Returns whether locks can be acquired, as far as is known.
	 * @return whether enough servers are usable
	 */
	public boolean isUsable() {
		return this.servers.stream().filter((server) -> server.problem() == null).count() >= this.required;
	}

}
