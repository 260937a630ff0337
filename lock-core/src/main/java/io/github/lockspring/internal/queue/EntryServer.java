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
 * Requests return at once. Their results arrive on any thread, which must not be blocked;
 * without a result they fail with {@link LockUnavailableException}, and may have been
 * carried out all the same.
 *
 * @since 0.1
 */
public interface EntryServer extends AutoCloseable {

	/**
	 * Returns what a store on this server is like. Never blocks.
	 */
	StoreTraits traits();

	/**
	 * Begins to connect, unless that has been done. Never blocks.
	 */
	void connect();

	/**
	 * Waits for the first connection, but not for ever. Returns at once later.
	 */
	void awaitConnection();

	/**
	 * Adds an entry to the end of the queue of a lock.
	 * @param key the user's key
	 * @param token the token of the entry, which has none yet
	 * @param repeated whether an earlier request for it brought no result: then it may
	 * have an entry
	 * @param ttlMillis for how long the server keeps the entry at least if it hears
	 * nothing more from this process, within the traits
	 * @param text what to store in it
	 * @return the entry, and the queue after it was added
	 */
	CompletionStage<Added> add(String key, OwnerToken token, boolean repeated, long ttlMillis, String text);

	/**
	 * The result of adding an entry.
	 *
	 * @param entry the entry
	 * @param queue all entries of the lock, in order
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
	 * Finds an entry of this process for which a request brought no result.
	 * @param key the user's key
	 * @param token its token
	 * @return the entry; null if there is none
	 */
	CompletionStage<Entry.@Nullable Own> find(String key, OwnerToken token);

	/**
	 * Reads an entry.
	 * @param entry the entry
	 * @return what is in it; empty if it is gone
	 */
	CompletionStage<Optional<Entry.Content>> read(Entry entry);

	/**
	 * Reads an entry, and calls when it is gone.
	 * @param entry the entry
	 * @param waiter the entry of this process that waits for that: when it was removed,
	 * nothing needs to be called any more
	 * @param gone called, perhaps more than once and perhaps in vain
	 * @return what is in it; empty if it is gone already
	 */
	CompletionStage<Optional<Entry.Content>> watch(Entry entry, Entry.Own waiter, Runnable gone);

	/**
	 * Writes to an entry of this process.
	 * @param entry the entry
	 * @param text what to store in it
	 * @param ttlMillis for how long the server has to keep it if it hears nothing more
	 * from this process; 0: as before
	 * @return whether it is there
	 */
	CompletionStage<Boolean> write(Entry.Own entry, String text, long ttlMillis);

	/**
	 * Removes an entry, of any instance. Nothing else is removed.
	 * @param entry the entry
	 * @return whether it was there
	 */
	CompletionStage<Boolean> remove(Entry entry);

	/**
	 * Extends the time for which the server keeps entries, if they are still there.
	 * @param renewals the entries
	 * @return a result for each of them
	 */
	CompletionStage<List<RenewResult>> renew(List<Renewal> renewals);

	/**
	 * A renewal.
	 *
	 * @param entry the entry
	 * @param ttlMillis the time that must be left after it
	 * @param text what to store in the entry; null to leave it
	 */
	record Renewal(Entry.Own entry, long ttlMillis, @Nullable String text) {
	}

	/**
	 * Returns whether the client keeps all entries as long as it is connected, without
	 * renewals.
	 */
	boolean isRenewedWhileConnected();

	/**
	 * Checks that the server replies.
	 */
	CompletionStage<Void> ping();

	/**
	 * Names something that is called when the connection was lost or is back.
	 * @param listener is called, and must not block
	 */
	void onConnectionChange(Runnable listener);

	/**
	 * Closes the connection, if it is this object's own.
	 */
	@Override
	void close();

}
