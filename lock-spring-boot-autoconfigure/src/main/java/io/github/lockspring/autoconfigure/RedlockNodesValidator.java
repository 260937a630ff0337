package io.github.lockspring.autoconfigure;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Validates the nodes of Redlock: an odd number of servers, at least three, each listed
 * once.
 */
final class RedlockNodesValidator {

	private RedlockNodesValidator() {
	}

	static List<RedlockAddress> validate(List<RedlockNodeProperties> nodes) {
		List<RedlockAddress> addresses = new ArrayList<>();
		for (RedlockNodeProperties node : nodes) {
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
			throw new LockPropertyException("redlock.nodes", names, "the number of nodes, " + addresses.size()
					+ ", is even, which tolerates no more failures than one node less, with one more node that can fail",
					"Remove a node, or add one.");
		}
		Set<String> seen = new HashSet<>();
		for (RedlockAddress address : addresses) {
			if (!seen.add(address.name().toLowerCase(Locale.ROOT))) {
				throw new LockPropertyException("redlock.nodes", names,
						address + " is listed twice, and a server must not vote twice",
						"Name servers that are independent of each other.");
			}
		}
		return addresses;
	}

}
