package io.github.lockspring.lab.worker;

import java.util.List;
import java.util.Map;

/**
 * The settings of a run for a worker.
 *
 * @param shop the name of the shop
 * @param recipe the class of the recipe
 * @param servers the Redis servers, each with the port of this shop's way to it
 * @param database the JDBC URL of the sale's database
 * @param ttlMillis the lease of the lock
 * @param properties properties of Lockspring
 */
public record RunSetup(String shop, String recipe, List<ServerAddress> servers, String database, long ttlMillis,
		Map<String, String> properties) {

	/**
	 * A Redis server as a shop sees it.
	 *
	 * @param id the name of the server
	 * @param port a port on the loopback interface
	 */
	public record ServerAddress(String id, int port) {
	}

}
