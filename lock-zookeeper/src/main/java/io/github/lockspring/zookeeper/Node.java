package io.github.lockspring.zookeeper;

import io.github.lockspring.store.queue.Entry;

/**
 * A node in the queue of a lock.
 *
 * @param path its path
 * @param token the owner token that it stands for
 */
record Node(String path, String token) implements Entry {

	@Override
	public String id() {
		return this.path;
	}

	/**
	 * A node of this process.
	 *
	 * @param path its path
	 * @param token the owner token that it stands for
	 * @param order its czxid
	 * @param session the session that it ends with
	 */
	record Mine(String path, String token, long order, Session session) implements Entry.Own {

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
