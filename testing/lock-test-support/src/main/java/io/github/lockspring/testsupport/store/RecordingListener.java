package io.github.lockspring.testsupport.store;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockspring.store.InboxListener;
import io.github.lockspring.store.OwnerToken;

/**
 * Keeps the messages of an inbox. Thread-safe.
 *
 * @since 0.1
 */
public final class RecordingListener implements InboxListener {

	/** Returns the granted locks in order of arrival. */
	public final List<Grant> grants = new CopyOnWriteArrayList<>();

	/** Returns the locks wanted by others in order of arrival. */
	public final List<Wanted> wanted = new CopyOnWriteArrayList<>();

	/** Returns how often the inbox has become confirmed. */
	public final AtomicInteger opened = new AtomicInteger();

	@Override
	public void granted(String key, OwnerToken token, long fencingToken, boolean othersWait) {
		this.grants.add(new Grant(key, token, fencingToken, othersWait));
	}

	@Override
	public void wanted(String key, OwnerToken token) {
		this.wanted.add(new Wanted(key, token));
	}

	@Override
	public void opened() {
		this.opened.incrementAndGet();
	}

	/** The arguments of {@link InboxListener#granted}. */
	public record Grant(String key, OwnerToken token, long fencingToken, boolean othersWait) {
	}

	/** The arguments of {@link InboxListener#wanted}. */
	public record Wanted(String key, OwnerToken token) {
	}

}
