package io.github.lockspring.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What must be true of the properties of Redlock together.
 */
final class RedlockRules {

	/** A vote, its confirmation, and what is left to withdraw them. */
	private static final int ROUNDS = 3;

	/** No command takes more than this part of a lease. */
	private static final int PART_OF_TTL = 3;

	private RedlockRules() {
	}

	/**
	 * Checks the properties.
	 * @throws LockPropertyException if one is wrong
	 */
	static void check(DistributedLockProperties.Redlock redlock, Duration ttl, Duration commandTimeout) {
		checkNodes(redlock);
		Duration longest = commandTimeout.dividedBy(ROUNDS);
		if (redlock.nodeTimeout().compareTo(longest) > 0) {
			throw new LockPropertyException("redlock.node-timeout", Limits.text(redlock.nodeTimeout()),
					"an acquisition asks the nodes up to three times, which must fit into"
							+ " distributed-lock.redis.command-timeout = " + Limits.text(commandTimeout),
					"Choose at most " + longest.toMillis() + "ms, or make the command timeout longer.");
		}
		Duration part = ttl.dividedBy(ROUNDS * PART_OF_TTL);
		if (redlock.nodeTimeout().compareTo(part) > 0) {
			throw new LockPropertyException("redlock.node-timeout", Limits.text(redlock.nodeTimeout()),
					"slow nodes would use up too much of the lease, distributed-lock.ttl = " + Limits.text(ttl),
					"Choose at most " + part.toMillis() + "ms, or make the ttl longer.");
		}
		Duration longestTtl = redlock.longestTtl();
		if (longestTtl != null && !redlock.durable() && longestTtl.compareTo(ttl) < 0) {
			throw new LockPropertyException("redlock.longest-ttl", Limits.text(longestTtl),
					"leases are longer than that: distributed-lock.ttl = " + Limits.text(ttl),
					"Make it as long as the longest ttl of all annotations, requests and the property ttl.");
		}
	}

	/**
	 * Reads where the nodes are.
	 * @throws LockPropertyException if that cannot be used
	 */
	static List<RedlockAddress> checkNodes(DistributedLockProperties.Redlock redlock) {
		List<RedlockAddress> addresses = new ArrayList<>();
		for (RedlockNodeProperties node : redlock.nodes()) {
			addresses.add(RedlockAddress.of(addresses.size(), node));
		}
		String names = addresses.stream().map(RedlockAddress::name).collect(Collectors.joining(", "));
		if (addresses.size() < 3) {
			throw new LockPropertyException("redlock.nodes", names,
					(addresses.isEmpty() ? "there is no node" : "there are too few nodes")
							+ " for distributed-lock.store=redlock, whose locks survive the loss of a minority",
					"Name three or five servers that are independent of each other; for one server, or one master"
							+ " with replicas, use distributed-lock.store=redis.");
		}
		if (addresses.size() % 2 == 0) {
			throw new LockPropertyException("redlock.nodes", names,
					"the number of nodes, " + addresses.size()
							+ ", is even: that survives no more failures than one node less, and has one more to fail",
					"Leave one out, or add one.");
		}
		Set<String> seen = new HashSet<>();
		for (RedlockAddress address : addresses) {
			if (!seen.add(address.name().toLowerCase(Locale.ROOT))) {
				throw new LockPropertyException("redlock.nodes", names,
						address + " is there twice, and a server must not vote twice",
						"Name servers that are independent of each other.");
			}
		}
		return addresses;
	}

}
