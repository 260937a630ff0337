package io.github.lockspring.internal.queue;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.StoreTraits;
import org.jspecify.annotations.Nullable;

/**
 * A server that keeps a queue of ephemeral entries for each lock. Thread-safe.
 * <p>
 * Requests return immediately. Their results arrive on any thread, which must not be
 * blocked. A request without a result fails with {@link LockUnavailableException}, but
 * may have been executed nevertheless.
 *
 * @since 0.1
 */
public interface EntryServer extends AutoCloseable {

	/**
	 * Returns the capabilities and limits of a store on this server. Never blocks.
	 */
	StoreTraits traits();

	/**
	 * Connects, unless already connected. Never blocks.
	 * @return a stage that never fails and completes when the first request can be sent
	 */
	CompletionStage<@Nullable Void> connected();

	/**
	 * Adds an entry to the end of the queue of a lock.
	 * @param key the user's key
	 * @param token the token of the entry
	 * @param repeated whether the token may already have an entry, because an earlier
	 * request returned no result
	 * @param ttlMillis the time for which the server must keep the entry without hearing
	 * from this process, within the limits of the traits
	 * @param text the content to store
	 * @return the entry and the queue that contains it
	 */
	CompletionStage<Added> add(String key, OwnerToken token, boolean repeated, long ttlMillis, String text);

	/**
	 * The result of adding an entry.
	 *
	 * @param entry the entry
	 * @param queue all entries of the lock in order
	 */
	record Added(Entry.Own entry, List<? extends Entry> queue) {
	}

	/**
	 * Reads the entries of a lock.
	 * @param key the user's key
	 * @return the entries in order
	 */
	CompletionStage<List<? extends Entry>> list(String key);

	/**
	 * Finds an entry of this process after a request that returned no result.
	 * @param key the user's key
	 * @param token its token
	 * @return the entry; null if there is none
	 */
	CompletionStage<Entry.@Nullable Own> find(String key, OwnerToken token);

	/**
	 * Reads an entry.
	 * @param entry the entry
	 * @return its content; empty if the entry is gone
	 */
	CompletionStage<Optional<Entry.Content>> read(Entry entry);

	/**
	 * Reads an entry and watches it until it is gone.
	 * @param entry the entry
	 * @param waiter the waiting entry of this process; the watch ends when it is removed
	 * @param gone called when the entry is gone; may be called several times, or without
	 * need
	 * @return its content; empty if the entry is already gone
	 */
	CompletionStage<Optional<Entry.Content>> watch(Entry entry, Entry.Own waiter, Runnable gone);

	/**
	 * Writes to an entry of this process.
	 * @param entry the entry
	 * @param text the content to store
	 * @param ttlMillis the time for which the server must keep the entry without hearing
	 * from this process; 0 to leave it as it is
	 * @return whether the entry exists
	 */
	CompletionStage<Boolean> write(Entry.Own entry, String text, long ttlMillis);

	/**
	 * Removes an entry of any instance, and nothing else.
	 * @param entry the entry
	 * @return whether the entry existed
	 */
	CompletionStage<Boolean> remove(Entry entry);

	/**
	 * Extends the time for which the server keeps entries, if they still exist.
	 * @param renewals the entries
	 * @return a result for each entry
	 */
	CompletionStage<List<RenewResult>> renew(List<Renewal> renewals);

	/**
	 * A renewal.
	 *
	 * @param entry the entry
	 * @param ttlMillis the time that must be left after it
	 * @param text the content to store; null to leave it as it is
	 */
	record Renewal(Entry.Own entry, long ttlMillis, @Nullable String text) {
	}

	/**
	 * Returns whether a connected client keeps all its entries without renewals.
	 */
	boolean isRenewedWhileConnected();

	/**
	 * Checks that the server replies.
	 */
	CompletionStage<Void> ping();

	/**
	 * Adds a listener for lost and restored connections.
	 * @param listener the listener, which must not block
	 */
	void onConnectionChange(Runnable listener);

	/**
	 * Closes the connection, if this object has opened it.
	 */
	@Override
	void close();

}
