package io.github.lockspring.lab.server;

import java.util.ArrayList;
import java.util.List;

import io.github.lockspring.lab.server.NetworkProxy.Direction;
import org.jspecify.annotations.Nullable;

/**
 * The Redis servers of a run, and the network between them and the shops: each shop has a
 * way of its own to each server. Used by one thread.
 */
public final class LabServers implements AutoCloseable {

	private final List<RedisNode> nodes = new ArrayList<>();

	private final List<List<NetworkProxy>> networks = new ArrayList<>();

	private @Nullable NetworkProxy replication;

	/**
	 * Starts the servers.
	 * @param processes starts them
	 * @param topology which ones
	 * @param shops the number of shops
	 */
	public LabServers(LabProcesses processes, Topology topology, int shops) {
		for (int i = 1; i <= topology.servers(); i++) {
			this.nodes.add(new RedisNode(processes, "redis-" + i));
		}
		if (topology == Topology.REPLICATED) {
			replicate();
		}
		int ways = (topology == Topology.REPLICATED) ? 1 : topology.servers();
		for (int i = 0; i < shops; i++) {
			this.networks.add(this.nodes.stream().limit(ways).map((node) -> new NetworkProxy(node.port())).toList());
		}
	}

	private void replicate() {
		RedisNode master = this.nodes.get(0);
		RedisNode replica = this.nodes.get(1);
		NetworkProxy link = new NetworkProxy(master.port());
		this.replication = link;
		master.call("CONFIG", "SET", "repl-diskless-sync-delay", "0");
		follow(replica, link.port());
	}

	private static void follow(RedisNode replica, int port) {
		replica.call("REPLICAOF", "127.0.0.1", String.valueOf(port));
		for (int i = 0; i < 1_000; i++) {
			if (String.valueOf(replica.call("INFO", "replication")).contains("master_link_status:up")) {
				return;
			}
			sleep();
		}
		throw new IllegalStateException("The replica did not connect to its master within 10s");
	}

	private static void sleep() {
		try {
			Thread.sleep(10);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Interrupted while a replica connected", ex);
		}
	}

	/**
	 * Returns the servers.
	 * @return the servers, the master first
	 */
	public List<RedisNode> nodes() {
		return this.nodes;
	}

	/**
	 * Returns the ways of a shop.
	 * @param shop the number of the shop, from 1
	 * @return its way to each server
	 */
	public List<NetworkProxy> networks(int shop) {
		return this.networks.get(shop - 1);
	}

	/** Cuts the master off from its replica. */
	public void cutReplication() {
		if (this.replication != null) {
			this.replication.hold(Direction.values());
		}
	}

	/** Lets the replica hear of the master again. */
	public void healReplication() {
		if (this.replication != null) {
			this.replication.heal();
		}
	}

	/**
	 * Promotes the replica, and leads all shops to it. The old master comes back as its
	 * replica, without data.
	 */
	public void promoteReplica() {
		RedisNode promoted = this.nodes.get(1);
		promoted.call("REPLICAOF", "NO", "ONE");
		promoted.call("CONFIG", "SET", "repl-diskless-sync-delay", "0");
		this.networks.forEach((ways) -> ways.forEach((way) -> way.target(promoted.port())));
		RedisNode old = this.nodes.get(0);
		old.restart();
		follow(old, promoted.port());
	}

	/** Ends all faults of the network. */
	public void heal() {
		this.networks.forEach((ways) -> ways.forEach(NetworkProxy::heal));
	}

	@Override
	public void close() {
		this.networks.forEach((ways) -> ways.forEach(NetworkProxy::close));
		if (this.replication != null) {
			this.replication.close();
		}
		this.nodes.forEach(RedisNode::close);
	}

}
