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
 * Settings of a {@link ZooKeeperLockStore}, see its builder.
 */
record ZooKeeperStoreSettings(String keyPrefix, Duration sessionTimeout, Duration connectTimeout, @Nullable String auth,
		boolean creatorOnly, long tokenFloor) {

	/** Leaves room for the transactions of 2^20 elections. */
	private static final long MAX_TOKEN_FLOOR = 1L << 52;

	ZooKeeperStoreSettings {
		StoreOptions.checkKeyPrefix(keyPrefix);
		if (keyPrefix.equals(":")) {
			throw new IllegalArgumentException("keyPrefix must be more than a colon, since it names a node");
		}
		StoreOptions.checkTimeout("sessionTimeout", sessionTimeout);
		StoreOptions.checkTimeout("connectTimeout", connectTimeout);
		// the message must not contain the value, which is a secret
		if (auth != null && auth.indexOf(':') <= 0) {
			throw new IllegalArgumentException(
					"auth must be a scheme, a colon and the credentials, such as digest:user:password");
		}
		if (tokenFloor < 0 || tokenFloor > MAX_TOKEN_FLOOR) {
			throw new IllegalArgumentException(
					"tokenFloor must be from 0 to " + MAX_TOKEN_FLOOR + ", not " + tokenFloor);
		}
	}

	/**
	 * Returns the path of all locks: the key prefix without its last colon.
	 */
	String root() {
		String name = this.keyPrefix.endsWith(":") ? this.keyPrefix.substring(0, this.keyPrefix.length() - 1)
				: this.keyPrefix;
		return "/" + LockPaths.encode(name);
	}

	/**
	 * Returns the permissions of the nodes.
	 */
	List<ACL> acl() {
		return (this.auth != null || this.creatorOnly) ? ZooDefs.Ids.CREATOR_ALL_ACL : ZooDefs.Ids.OPEN_ACL_UNSAFE;
	}

	/**
	 * Adds the credentials, if any, to a session, which sends them to each server before
	 * any other request.
	 */
	void authenticate(ZooKeeper session) {
		if (this.auth != null) {
			int colon = this.auth.indexOf(':');
			session.addAuthInfo(this.auth.substring(0, colon),
					this.auth.substring(colon + 1).getBytes(StandardCharsets.UTF_8));
		}
	}

	/** Omits the credentials. */
	@Override
	public String toString() {
		return "ZooKeeperStoreSettings[" + root() + "]";
	}

}
