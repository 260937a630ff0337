package io.github.lockspring.lab.recipe;

import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

import io.github.lockspring.lab.worker.Redis;
import io.github.lockspring.lab.worker.Shop;

/**
 * Redlock as it is usually copied: asks the nodes one after the other, allows for no
 * drift of clocks, and counts the vote of a node that has just been restarted.
 */
final class CopiedRedlock extends RedisRecipe {

	private static final Duration NODE_TIMEOUT = Duration.ofMillis(250);

	private final List<Redis> nodes = new ArrayList<>();

	private String value = "";

	CopiedRedlock(Shop shop) {
		super(shop);
		for (int i = 0; i < shop.ports().size(); i++) {
			this.nodes.add(shop.connect(i, NODE_TIMEOUT));
		}
	}

	@Override
	boolean lock() {
		this.value = UUID.randomUUID().toString();
		int votes = 0;
		for (Redis node : this.nodes) {
			try {
				if ("OK".equals(node.call("SET", KEY, this.value, "NX", "PX", ttlMillis()))) {
					votes++;
				}
			}
			catch (UncheckedIOException ex) {
				// this node does not vote
			}
		}
		if (votes > this.nodes.size() / 2) {
			return true;
		}
		unlock();
		return false;
	}

	@Override
	void unlock() {
		for (Redis node : this.nodes) {
			try {
				node.call("EVAL", CompareAndDelete.RELEASE, "1", KEY, this.value);
			}
			catch (UncheckedIOException ex) {
				// its key expires
			}
		}
	}

}
