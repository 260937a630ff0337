package io.github.lockspring.zookeeper;

import java.time.Duration;
import java.util.List;

import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.common.PathUtils;
import org.apache.zookeeper.data.ACL;

/**
 * Settings of a {@link ZooKeeperLockStore}.
 *
 * @param keyPrefix the prefix of all keys; not empty
 * @param root the path under which the locks are; created when it is needed
 * @param acl who may do what with the nodes
 * @param sessionTimeout the session timeout that the client requests; the server may
 * decide on another one, which counts from the first connection on
 * @param connectTimeout how long the first request waits for a connection
 * @since 0.1
 */
public record ZooKeeperStoreSettings(String keyPrefix, String root, List<ACL> acl, Duration sessionTimeout,
		Duration connectTimeout) {

	/**
	 * Checks the values.
	 * @throws IllegalArgumentException if the prefix is empty or the root is not a path
	 */
	public ZooKeeperStoreSettings {
		if (keyPrefix.isEmpty()) {
			throw new IllegalArgumentException("keyPrefix must not be empty");
		}
		PathUtils.validatePath(root);
		if (root.equals("/")) {
			throw new IllegalArgumentException("root must be below /, such as /lockspring");
		}
		acl = List.copyOf(acl);
	}

	/**
	 * Creates the settings of an application that sets nothing.
	 * @param sessionTimeout the session timeout that the client requests
	 */
	public ZooKeeperStoreSettings(Duration sessionTimeout) {
		this("lock:", "/lockspring", ZooDefs.Ids.OPEN_ACL_UNSAFE, sessionTimeout, Duration.ofSeconds(5));
	}

}
