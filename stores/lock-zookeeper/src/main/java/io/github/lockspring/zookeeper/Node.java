package io.github.lockspring.zookeeper;

import java.util.concurrent.CompletableFuture;

import io.github.lockspring.internal.queue.Entry;
import org.jspecify.annotations.Nullable;

/**
 * A node in the queue of a lock.
 *
 * @param path its path
 * @param token its owner token
 */
record Node(String path, String token) implements Entry {

	static String pathOf(Entry entry) {
		return (entry instanceof Mine mine) ? mine.path() : ((Node) entry).path();
	}

	@Override
	public String id() {
		return this.path;
	}

	/**
	 * A node of this process. Thread-safe.
	 *
	 * @param path its path
	 * @param token its owner token
	 * @param order its czxid
	 * @param session the session with which it ends
	 * @param removed completed when this process has removed the node
	 */
	record Mine(String path, String token, long order, Session session,
			CompletableFuture<@Nullable Void> removed) implements Entry.Own {

		Mine(String path, String token, long order, Session session) {
			this(path, token, order, session, new CompletableFuture<>());
		}

		@Override
		public String id() {
			return this.path;
		}

		@Override
		public long validUntil() {
			return this.session.validUntil();
		}

		@Override
		public boolean isOver() {
			return this.session.isOver();
		}

	}

}
