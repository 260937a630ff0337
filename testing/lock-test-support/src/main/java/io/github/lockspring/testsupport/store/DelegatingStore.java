package io.github.lockspring.testsupport.store;

import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.StoreTraits;

/**
 * Passes on to another store what decorators neither watch nor change.
 *
 * @since 0.1
 */
public abstract class DelegatingStore implements LockStore {

	/** The store that is decorated. */
	protected final LockStore store;

	/** Creates a decorator of a store. */
	protected DelegatingStore(LockStore store) {
		this.store = store;
	}

	@Override
	public final StoreTraits traits() {
		return this.store.traits();
	}

	@Override
	public final void connect() {
		this.store.connect();
	}

	@Override
	public final void awaitConnection() {
		this.store.awaitConnection();
	}

	@Override
	public final String shard(String key) {
		return this.store.shard(key);
	}

	@Override
	public final void close() {
		this.store.close();
	}

}
