package io.github.lockspring.zookeeper;

import io.github.lockspring.internal.queue.Entry;
import org.jspecify.annotations.Nullable;

/**
 * A node of this process. Thread-safe.
 */
/*
 * For maintainers: requests for one token are sent one after the other. Only the watch is
 * also used by the thread of the client.
 */
final class OwnNode implements Entry.Own {

	private final String path;

	private final String token;

	private final long order;

	/** Length of its lease, as others are shown; -1 if unknown. */
	private volatile long ttlMillis;

	private final Session session;

	private final boolean withContainer;

	private volatile @Nullable Seen seen;

	private @Nullable String watched;

	private boolean ended;

	/**
	 * Creates a node.
	 * @param ttlMillis length of its lease; -1 if unknown
	 * @param withContainer whether it was created together with its container
	 */
	OwnNode(String path, String token, long order, long ttlMillis, Session session, boolean withContainer) {
		this.path = path;
		this.token = token;
		this.order = order;
		this.ttlMillis = ttlMillis;
		this.session = session;
		this.withContainer = withContainer;
	}

	@Override
	public String id() {
		return this.path;
	}

	@Override
	public String token() {
		return this.token;
	}

	@Override
	public long order() {
		return this.order;
	}

	@Override
	public long validUntil() {
		return this.session.validUntil();
	}

	@Override
	public boolean isOver() {
		return this.session.isOver();
	}

	String container() {
		return this.path.substring(0, this.path.lastIndexOf('/'));
	}

	Session session() {
		return this.session;
	}

	Entry.Content content() {
		return new Entry.Content(this.order, this.ttlMillis, false, null);
	}

	long ttlMillis() {
		return this.ttlMillis;
	}

	/** Others are shown this length, unless it is shorter than before. */
	void show(long millis) {
		this.ttlMillis = Math.max(this.ttlMillis, millis);
	}

	/** Whether to delete the container, too, unless there are others in it. */
	boolean isWithContainer() {
		return this.withContainer;
	}

	// its place, as it was seen last

	/**
	 * The nodes before it that matter to it.
	 *
	 * @param before the one before it
	 * @param first the first one
	 */
	record Seen(Node before, Node first) {
	}

	@Nullable Seen seen() {
		return this.seen;
	}

	void see(Node before, Node first) {
		this.seen = new Seen(before, first);
	}

	// its watch and its end

	synchronized void watches(String node) {
		this.watched = node;
	}

	synchronized boolean hasEnded() {
		return this.ended;
	}

	/**
	 * Ends its watch. The node that is watched may last long, and have many waiters, one
	 * after the other.
	 */
	void end() {
		String left = leave();
		if (left != null) {
			this.session.endWatches(left);
		}
		this.session.remove(this);
	}

	private synchronized @Nullable String leave() {
		this.ended = true;
		String left = this.watched;
		this.watched = null;
		return left;
	}

	/** The node before it is gone, and the watch with it. */
	synchronized void predecessorGone() {
		this.watched = null;
		this.seen = null;
	}

}
