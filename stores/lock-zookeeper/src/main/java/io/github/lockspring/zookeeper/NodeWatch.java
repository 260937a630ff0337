package io.github.lockspring.zookeeper;

import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

import io.github.lockspring.internal.queue.Entry.Content;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;

/**
 * Watches a node until it is gone or the waiting node is removed. The second end is
 * needed because one node may last long and have many waiters, one after the other.
 * Thread-safe.
 */
final class NodeWatch implements Watcher {

	private final Session session;

	private final String path;

	private final Node.Mine waiter;

	private final Runnable gone;

	private final Function<Watcher, CompletionStage<Optional<Content>>> read;

	/**
	 * Creates a watch.
	 * @param read reads the node with the given watcher
	 */
	NodeWatch(Session session, String path, Node.Mine waiter, Runnable gone,
			Function<Watcher, CompletionStage<Optional<Content>>> read) {
		this.session = session;
		this.path = path;
		this.waiter = waiter;
		this.gone = gone;
		this.read = read;
	}

	CompletionStage<Optional<Content>> begin() {
		// removed after the read was sent, so that there is a watch to remove
		CompletionStage<Optional<Content>> content = this.read.apply(this);
		this.waiter.removed().thenRun(this::remove);
		return content;
	}

	/** Removes the only watch that the server can have for this path and session. */
	private void remove() {
		this.session.handle().removeWatches(this.path, this, WatcherType.Data, true, (code, path, context) -> {
			// the watch may have fired already
		}, null);
	}

	@Override
	public void process(WatchedEvent event) {
		if (this.waiter.removed().isDone()) {
			return;
		}
		if (event.getType() == EventType.NodeDataChanged) {
			this.read.apply(this).whenComplete((content, ex) -> {
				if (ex != null || content.isEmpty()) {
					this.gone.run();
				}
			});
		}
		else if (event.getType() == EventType.NodeDeleted || event.getState() == KeeperState.Expired
				|| event.getState() == KeeperState.Closed) {
			this.gone.run();
		}
	}

}
