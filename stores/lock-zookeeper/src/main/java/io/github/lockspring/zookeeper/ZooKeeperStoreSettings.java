package io.github.lockspring.zookeeper;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

import io.github.lockspring.internal.base.StoreOptions;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/**
 * Settings of a {@link ZooKeeperLockStore}; its builder describes them.
 */
record ZooKeeperStoreSettings(String keyPrefix, Duration sessionTimeout, Duration connectTimeout, @Nullable String auth,
		boolean creatorOnly) {

	ZooKeeperStoreSettings {
		StoreOptions.checkKeyPrefix(keyPrefix);
		if (keyPrefix.equals(":")) {
			throw new IllegalArgumentException("keyPrefix must be more than a colon, since it names a node");
		}
		StoreOptions.checkTimeout("sessionTimeout", sessionTimeout);
		StoreOptions.checkTimeout("connectTimeout", connectTimeout);
		// the value is a secret
		if (auth != null && auth.indexOf(':') <= 0) {
			throw new IllegalArgumentException(
					"auth must be a scheme, a colon and the credentials, such as digest:user:password");
		}
	}

	/**
	 * Returns the path below which the locks are: the key prefix without the colon at its
	 * end.
	 */
	String root() {
		String name = this.keyPrefix.endsWith(":") ? this.keyPrefix.substring(0, this.keyPrefix.length() - 1)
				: this.keyPrefix;
		return "/" + LockPaths.encode(name);
	}

	/**
	 * Returns who may use the nodes.
	 */
	List<ACL> acl() {
		return (this.auth != null || this.creatorOnly) ? ZooDefs.Ids.CREATOR_ALL_ACL : ZooDefs.Ids.OPEN_ACL_UNSAFE;
	}

	/**
	 * Adds the credentials, if there are any, to a session. It sends them before what
	 * follows, and to each server that it connects to.
	 */
	void authenticate(ZooKeeper session) {
		if (this.auth != null) {
			int colon = this.auth.indexOf(':');
			session.addAuthInfo(this.auth.substring(0, colon),
					this.auth.substring(colon + 1).getBytes(StandardCharsets.UTF_8));
		}
	}

	/** Without the credentials. */
	@Override
	public String toString() {
		return "ZooKeeperStoreSettings[" + root() + "]";
	}

}
