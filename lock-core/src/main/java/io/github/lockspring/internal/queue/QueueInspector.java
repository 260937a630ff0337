package io.github.lockspring.internal.queue;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.github.lockspring.internal.Stages;
import io.github.lockspring.store.LockStoreInspector;
import io.github.lockspring.store.StoredLock;

/**
 * Finds and describes locks by their queues. Cannot describe instances. Thread-safe.
 *
 * @param server the server
 */
record QueueInspector(EntryServer server) implements LockStoreInspector {

	private static final String KEPT = ".kept";

	@Override
	public Optional<StoredLock> find(String key, Duration timeout) {
		return Stages.join(this.server.list(key).thenCompose((queue) -> describe(key, queue)), timeout);
	}

	private CompletionStage<Optional<StoredLock>> describe(String key, List<? extends Entry> queue) {
		if (queue.isEmpty()) {
			return CompletableFuture.completedFuture(Optional.empty());
		}
		String token = queue.get(0).token();
		List<String> waiting = queue.stream()
			.skip(1)
			.limit(StoredLock.MAX_QUEUE)
			.flatMap((entry) -> StoredLock.instance(entry.token()).stream())
			.toList();
		return this.server.read(queue.get(0))
			.thenApply((read) -> read.map((content) -> new StoredLock(key, content.kept() ? token + KEPT : token,
					(content.millis() >= 0) ? Duration.ofMillis(content.millis()) : null, content.age(),
					QueueSteps.lastToken(content.order()), queue.size() - 1, waiting)));
	}

	@Override
	public boolean forceRelease(StoredLock seen, Duration timeout) {
		return Stages.join(this.server.list(seen.key()).thenCompose((queue) -> remove(seen, queue)), timeout);
	}

	/** An entry belongs to one ownership, so comparing the tokens is enough. */
	private CompletionStage<Boolean> remove(StoredLock seen, List<? extends Entry> queue) {
		String token = seen.isKept() ? seen.owner().substring(0, seen.owner().length() - KEPT.length()) : seen.owner();
		boolean same = !queue.isEmpty() && queue.get(0).token().equals(token);
		return same ? this.server.take(queue.get(0)) : CompletableFuture.completedFuture(false);
	}

}
