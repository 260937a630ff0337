package io.github.lockspring.autoconfigure.actuate;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;

import io.github.lockspring.internal.engine.LockEngine.LocalHold;
import io.github.lockspring.internal.engine.LockEngine.LocalLock;
import io.github.lockspring.store.InstanceInfo;
import io.github.lockspring.store.StoredLock;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * The results of {@link DistributedLocksEndpoint}. The JSON omits null values.
 */
final class LockDescriptors {

	private LockDescriptors() {
	}

	/**
	 * A page of the locks of this instance.
	 *
	 * @param held how many locks this instance holds
	 * @param waiting how many of its callers wait for a lock
	 * @param page the number of this page, from 0
	 * @param size the largest length of a page
	 * @param total how many keys there are on all pages
	 * @param locks the page
	 */
	record Locks(int held, int waiting, int page, int size, int total,
			List<Local> locks) implements OperationResponseBody {
	}

	/**
	 * A key that this instance holds or waits for.
	 *
	 * @param key the key
	 * @param held whether this instance holds it; the next ones are null if not
	 * @param name the label of the request: the annotation's name, or the class and the
	 * method
	 * @param since when the holder acquired the lock
	 * @param leaseLeft time until the lease ends unless it is renewed
	 * @param renewals how often it was renewed since this instance owns the lock
	 * @param fencingToken the fencing token
	 * @param thread the thread that acquired it
	 * @param transaction whether the lock lasts until the end of a transaction
	 * @param waiting how many callers of this instance wait for it
	 */
	record Local(String key, boolean held, @Nullable String name, @Nullable Instant since, @Nullable Duration leaseLeft,
			@Nullable Integer renewals, @Nullable Long fencingToken, @Nullable String thread,
			@Nullable Boolean transaction, int waiting) {

		static Local of(LocalLock lock) {
			LocalHold hold = lock.hold();
			if (hold == null) {
				return new Local(lock.key(), false, null, null, null, null, null, null, null, lock.waiting());
			}
			return new Local(lock.key(), true, hold.name(), ago(hold.heldFor()), millis(hold.remaining()),
					hold.renewals(), hold.fencingToken(), name(hold.thread()), hold.unitOfWork(), lock.waiting());
		}

		/** Virtual threads have no name unless they were given one. */
		private static @Nullable String name(@Nullable Thread thread) {
			return (thread == null) ? null : (thread.getName().isEmpty()) ? "#" + thread.getId() : thread.getName();
		}

	}

	/**
	 * One lock.
	 *
	 * @param key the key
	 * @param here how this instance holds it or waits for it; null if it does neither
	 * @param store its state in the store; null if the lock is free there, or the store
	 * has not answered
	 * @param reason why the store has not answered, or null
	 */
	record Key(String key, @Nullable Local here, @Nullable Stored store,
			@Nullable String reason) implements OperationResponseBody {
	}

	/**
	 * A lock as the store has it.
	 *
	 * @param owner the owner; null for a client other than this library
	 * @param foreignOwner what such a client has written, or null
	 * @param since when it was acquired or, on Redis, requested; null if it is not known
	 * @param leaseLeft time until the lease ends unless it is renewed; null if it never
	 * ends
	 * @param kept whether its holder is done, and the lock is kept because of its minHold
	 * @param waiting how many instances wait
	 * @param queue the first ones of them, in their order
	 */
	record Stored(@Nullable Owner owner, @Nullable String foreignOwner, @Nullable Instant since,
			@Nullable Duration leaseLeft, boolean kept, int waiting, List<Owner> queue) {

		static Stored of(StoredLock lock, Map<String, InstanceInfo> known) {
			Owner owner = lock.instance().map((instance) -> Owner.of(instance, known)).orElse(null);
			Duration remaining = lock.remaining();
			Duration age = lock.age();
			return new Stored(owner, (owner == null) ? lock.owner() : null, (age != null) ? ago(age) : null,
					(remaining != null) ? millis(remaining) : null, lock.isKept(), lock.waiting(),
					lock.queue().stream().map((instance) -> Owner.of(instance, known)).toList());
		}

		/** Names the owner in a sentence. */
		String holder() {
			Owner present = this.owner;
			return (present != null) ? present.text() : "a client that is not of this library";
		}

	}

	/**
	 * An instance.
	 *
	 * @param instance its identity, a random text
	 * @param application the name of its application; null, like the next ones, if the
	 * store does not know the instance any more
	 * @param host the name of its machine, container or pod
	 * @param pid its process id
	 */
	record Owner(String instance, @Nullable String application, @Nullable String host, @Nullable Long pid) {

		static Owner of(String instance, Map<String, InstanceInfo> known) {
			InstanceInfo info = known.get(instance);
			return (info == null) ? new Owner(instance, null, null, null)
					: new Owner(instance, info.application(), info.host(), info.pid());
		}

		String text() {
			return "instance " + this.instance + ((this.host != null)
					? " (" + this.application + " on " + this.host + ", pid " + this.pid + ")" : "");
		}

	}

	/**
	 * A lock that was released by force.
	 *
	 * @param key the key
	 * @param released its state in the store before, or null
	 */
	record ForcedRelease(String key, @Nullable Stored released) implements OperationResponseBody {
	}

	/**
	 * The reason why there is no result.
	 *
	 * @param reason a sentence
	 */
	record Problem(String reason) implements OperationResponseBody {
	}

	private static Instant ago(Duration age) {
		return Instant.now().minus(age).truncatedTo(ChronoUnit.MILLIS);
	}

	private static Duration millis(Duration duration) {
		return duration.truncatedTo(ChronoUnit.MILLIS);
	}

}
