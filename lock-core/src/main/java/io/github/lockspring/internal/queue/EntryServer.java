package io.github.lockspring.internal.queue;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.StoreTraits;
import org.jspecify.annotations.Nullable;

/**
 * A server that keeps a queue of ephemeral entries for each lock. Thread-safe.
 * <p>
 * Requests return immediately. Their results arrive on any thread, which must not be
 * blocked. A request without a result fails with {@link LockUnavailableException}, but
 * may have been executed nevertheless, or be executed later. For a token, a request is
 * sent only after the previous one has finished; renewals are the exception.
 *
 * @since 0.1
 */
public interface EntryServer extends AutoCloseable {

	/**
	 * Returns the capabilities and limits of a store on this server. Never blocks.
	 */
	StoreTraits traits();

	/**
	 * Returns the length of the lease that a renewal can prove at present. Never blocks.
	 * @param ttl the requested ttl
	 */
	default Duration lease(Duration ttl) {
		return traits().lease(ttl);
	}

	/**
	 * Connects, unless already connected. Never blocks.
	 * @return a stage that never fails and completes when the first request can be sent,
	 * or when connecting has failed
	 */
	CompletionStage<@Nullable Void> connected();

	/**
	 * Adds an entry to the end of the queue of a lock. The server keeps it while this
	 * process is alive, and removes it afterwards.
	 * @param key the user's key
	 * @param token the token of the entry; its instance has no other entry in the queue
	 * @param ttlMillis length of the lease that is requested, to be shown to others
	 * @param repeated whether the token may already have an entry, because an earlier
	 * request returned no result
	 * @return the entry and its position
	 */
	CompletionStage<Added> add(String key, OwnerToken token, long ttlMillis, boolean repeated);

	/**
	 * The result of adding an entry.
	 *
	 * @param entry the entry
	 * @param position its position; null if the entry has been removed since
	 */
	record Added(Entry.Own entry, @Nullable Position position) {
	}

	/**
	 * The position of an entry in its queue.
	 *
	 * @param before the entry before it; null if it is the first
	 * @param first the content of the first entry, which owns the lock
	 */
	record Position(@Nullable Entry before, Entry.Content first) {
	}

	/**
	 * Settles additions that returned no result: from now on, none is executed.
	 * @param key the user's key
	 * @param token the token of the additions
	 * @return the entry that one of them has added and that is still there; null if there
	 * is none
	 */
	CompletionStage<Entry.@Nullable Own> settle(String key, OwnerToken token);

	/**
	 * Reads the position of an entry.
	 * @param entry the entry
	 * @return its position; empty if the entry is gone
	 */
	CompletionStage<Optional<Position>> position(Entry.Own entry);

	/**
	 * Reads the first entry of a lock.
	 * @param key the user's key
	 * @return its content; empty if the queue is empty
	 */
	CompletionStage<Optional<Entry.Content>> first(String key);

	/**
	 * Watches an entry until it is gone.
	 * @param entry the entry
	 * @param waiter the waiting entry of this process; the watch ends with it
	 * @param gone called when the entry is gone; may be called several times, or without
	 * need
	 * @return whether the entry is there, read after the watch has begun
	 */
	CompletionStage<Boolean> watch(Entry entry, Entry.Own waiter, Runnable gone);

	/**
	 * Keeps an entry for some time although its ownership has ended, if the server can,
	 * even if this process ends before that. Not for a waiting entry.
	 * @param entry the entry
	 * @param millis the time, in milliseconds
	 * @return whether the entry is there
	 */
	CompletionStage<Boolean> keep(Entry.Own entry, long millis);

	/**
	 * Removes an entry of this process, and what additions of its token without a result
	 * have added, of which none is executed afterwards. If it fails, the entry must not
	 * be used any more, and is removed again until there is a result.
	 * @param entry the entry
	 * @return whether this request has removed the entry; false if it was gone
	 */
	CompletionStage<Boolean> remove(Entry.Own entry);

	/**
	 * Proves that entries exist and will be kept for some time. On its success, the
	 * {@link Entry.Own#validUntil() validity} of an entry has changed.
	 * @param renewals the entries
	 * @return the entries that are there; {@link Entry.Own#validUntil()} returns until
	 * when
	 */
	CompletionStage<Set<Entry.Own>> renew(List<Renewal> renewals);

	/**
	 * A renewal.
	 *
	 * @param entry the entry
	 * @param ttlMillis the time that must be left after it, within the limits of the
	 * traits
	 */
	record Renewal(Entry.Own entry, long ttlMillis) {
	}

	/**
	 * Checks that the server replies.
	 */
	CompletionStage<Void> ping();

	/**
	 * Adds a listener for lost and restored connections.
	 * @param listener the listener, which must not block
	 */
	void onConnectionChange(Runnable listener);

	// for inspection

	/**
	 * Reads the entries of a lock.
	 * @param key the user's key
	 * @return the entries in order
	 */
	CompletionStage<List<? extends Entry>> list(String key);

	/**
	 * Reads an entry.
	 * @param entry the entry
	 * @return its content; empty if the entry is gone
	 */
	CompletionStage<Optional<Entry.Content>> read(Entry entry);

	/**
	 * Removes an entry of any instance, which loses the lock or its place in the queue.
	 * @param entry the entry
	 * @return whether the entry existed
	 */
	CompletionStage<Boolean> take(Entry entry);

	/**
	 * Closes the connection, if this object has opened it.
	 */
	@Override
	void close();

}
