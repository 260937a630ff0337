package io.github.lockspring.zookeeper;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.github.lockspring.internal.queue.Entry.Content;
import io.github.lockspring.internal.queue.EntryServer.Position;
import org.apache.zookeeper.data.Stat;

/**
 * Reads the positions of nodes. Nodes are only added at the end of a queue, so the node
 * before another one stays the same until it is gone, and so does the first one; the
 * queue is listed only then. Thread-safe.
 *
 * @param tokenFloor what is added to the czxid of a node
 */
record Positions(long tokenFloor) {

	CompletionStage<Optional<Position>> read(OwnNode node) {
		OwnNode.Seen seen = node.seen();
		if (seen == null) {
			return list(node);
		}
		Session session = node.session();
		CompletionStage<Optional<Stat>> own = session.stat(node.id());
		CompletionStage<Optional<Stat>> before = session.stat(seen.before().id());
		return content(session, seen.first()).thenCombine(before, (first, there) -> there.flatMap((ignored) -> first))
			.thenCompose((first) -> own.thenCompose((there) -> {
				if (there.isEmpty()) {
					return CompletableFuture.completedFuture(Optional.<Position>empty());
				}
				return first.isPresent() ? CompletableFuture
					.completedFuture(first.map((content) -> new Position(seen.before(), content))) : list(node);
			}));
	}

	private CompletionStage<Optional<Position>> list(OwnNode node) {
		String lock = node.container();
		return node.session().children(lock).thenCompose((names) -> read(node, LockPaths.sorted(lock, names)));
	}

	/**
	 * Reads a position in a queue that was listed.
	 * @return the position; empty if the node is not in the queue
	 */
	CompletionStage<Optional<Position>> read(OwnNode node, List<Node> queue) {
		int index = queue.stream().map(Node::id).toList().indexOf(node.id());
		if (index < 0) {
			return CompletableFuture.completedFuture(Optional.empty());
		}
		if (index == 0) {
			return CompletableFuture.completedFuture(Optional.of(new Position(null, node.content())));
		}
		Node before = queue.get(index - 1);
		return content(node.session(), queue.get(0)).thenCompose((first) -> {
			if (first.isEmpty()) {
				return list(node);
			}
			node.see(before, queue.get(0));
			return CompletableFuture.completedFuture(first.map((content) -> new Position(before, content)));
		});
	}

	/**
	 * Reads the content of the first node of a lock.
	 */
	CompletionStage<Optional<Content>> first(Session session, String lock) {
		return session.children(lock).thenCompose((names) -> {
			List<Node> queue = LockPaths.sorted(lock, names);
			if (queue.isEmpty()) {
				return CompletableFuture.completedFuture(Optional.<Content>empty());
			}
			return content(session, queue.get(0)).thenCompose((content) -> content.isPresent()
					? CompletableFuture.completedFuture(content) : first(session, lock));
		});
	}

	CompletionStage<Optional<Content>> content(Session session, Node node) {
		return session.data(node.id(), null).thenApply((data) -> data.map(this::content));
	}

	/** Compares two clocks for the age, which is only informative. */
	private Content content(Session.Data data) {
		return Content.parse(this.tokenFloor + data.stat().getCzxid(), new String(data.bytes(), StandardCharsets.UTF_8),
				Duration.ofMillis(Math.max(0, System.currentTimeMillis() - data.stat().getCtime())));
	}

}
