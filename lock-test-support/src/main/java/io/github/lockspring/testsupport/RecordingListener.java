package io.github.lockspring.testsupport;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockspring.store.InboxListener;
import io.github.lockspring.store.OwnerToken;

/**
 * Keeps what an inbox was told.
 */
public final class RecordingListener implements InboxListener {

	public final List<Grant> grants = new CopyOnWriteArrayList<>();

	public final List<Wanted> wanted = new CopyOnWriteArrayList<>();

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

	public record Grant(String key, OwnerToken token, long fencingToken, boolean othersWait) {
	}

	public record Wanted(String key, OwnerToken token) {
	}

}
