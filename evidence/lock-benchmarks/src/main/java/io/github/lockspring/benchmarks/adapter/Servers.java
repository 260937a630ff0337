package io.github.lockspring.benchmarks.adapter;

import java.time.Duration;

/**
 * Where an adapter finds its server, and for how long it takes its locks.
 *
 * @param redisPort port of the redis-server on the loopback interface
 * @param zooKeeper connect string of ZooKeeper, empty if it was not started
 * @param postgres JDBC URL of PostgreSQL, empty if it was not started
 * @param etcd URL of etcd, empty if it was not started
 * @param ttl lease of a lock
 */
public record Servers(int redisPort, String zooKeeper, String postgres, String etcd, Duration ttl) {

	static final String HOST = "127.0.0.1";

}
