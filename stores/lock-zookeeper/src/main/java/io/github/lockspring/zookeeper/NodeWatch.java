package io.github.lockspring.zookeeper;

import java.util.concurrent.CompletionStage;

import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;

/**
 * Watches a node until it is gone or the waiting node has ended. Thread-safe.
 */
/*
 * For maintainers: reads the node, since a watch by `exists` stays if there is no node.
 */
final class NodeWatch implements Watcher {

	private final String path;

	private final OwnNode waiter;

	private final Runnable gone;

	NodeWatch(String path, OwnNode waiter, Runnable gone) {
		this.path = path;
		this.waiter = waiter;
		this.gone = gone;
	}

	/**
	 * Begins to watch.
	 * @return whether the node exists
	 */
	CompletionStage<Boolean> begin() {
		this.waiter.watches(this.path);
		CompletionStage<Boolean> there = this.waiter.session().data(this.path, this).thenApply((data) -> {
			if (data.isEmpty()) {
				this.waiter.predecessorGone();
			}
			return data.isPresent();
		});
		if (this.waiter.hasEnded()) {
			this.waiter.session().endWatches(this.path);
		}
		return there;
	}

	@Override
	public void process(WatchedEvent event) {
		if (this.waiter.hasEnded()) {
			return;
		}
		if (event.getType() == EventType.NodeDataChanged) {
			begin().whenComplete((there, ex) -> {
				if (ex != null || !there) {
					this.gone.run();
				}
			});
		}
		else if (event.getType() == EventType.NodeDeleted || event.getState() == KeeperState.Expired
				|| event.getState() == KeeperState.Closed) {
			this.waiter.predecessorGone();
			this.gone.run();
		}
	}

}
