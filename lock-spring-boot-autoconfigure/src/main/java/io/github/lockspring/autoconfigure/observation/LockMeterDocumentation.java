package io.github.lockspring.autoconfigure.observation;

import io.github.lockspring.Fenced;

import io.micrometer.common.docs.KeyName;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.docs.MeterDocumentation;

/**
 * The meters of locks. A meter always has all of its tags. The key of a lock is never
 * one: there are as many meters as there are names.
 */
enum LockMeterDocumentation implements MeterDocumentation {

	/**
	 * Requests for a key, by how they ended; timed from the call until the lock was
	 * acquired or the caller gave up. A re-entry is not counted.
	 */
	ACQUIRE("distributed.lock.acquire", Meter.Type.TIMER, Tag.NAME, Tag.STORE, Tag.OUTCOME),

	/**
	 * Holds that have ended, by release or by loss; timed from the acquisition.
	 */
	USAGE("distributed.lock.usage", Meter.Type.TIMER, Tag.NAME, Tag.STORE),

	/**
	 * Locks that this instance holds now.
	 */
	HELD("distributed.lock.held", Meter.Type.GAUGE, Tag.NAME, Tag.STORE),

	/**
	 * Callers of this instance that wait now for a busy lock or an unavailable store.
	 */
	WAITING("distributed.lock.waiting", Meter.Type.GAUGE, Tag.NAME, Tag.STORE),

	/**
	 * Renewals of leases, by what became of them.
	 */
	RENEWALS("distributed.lock.renewals", Meter.Type.COUNTER, Tag.NAME, Tag.STORE, Tag.OUTCOME),

	/**
	 * Locks that were lost while they were held, by what was observed.
	 */
	LOST("distributed.lock.lost", Meter.Type.COUNTER, Tag.NAME, Tag.STORE, Tag.CAUSE),

	/**
	 * Locks that a waiter of this instance received from the holder before it: inside
	 * this instance, or from another one.
	 */
	HANDOVERS("distributed.lock.handovers", Meter.Type.COUNTER, Tag.NAME, Tag.STORE, Tag.KIND),

	/**
	 * Work that the commit guard, or the fencing guard of a method with {@code @Fenced},
	 * has refused because its lock was lost.
	 */
	REFUSALS("distributed.lock.refusals", Meter.Type.COUNTER, Tag.NAME, Tag.STORE, Tag.GUARD),

	/**
	 * Commands to the store, by what they are, the server that was asked, and whether
	 * there was an answer; timed until then.
	 */
	STORE_COMMANDS("distributed.lock.store.commands", Meter.Type.TIMER, Tag.STORE, Tag.COMMAND, Tag.SHARD, Tag.OUTCOME);

	private final String name;

	private final Meter.Type type;

	private final KeyName[] tags;

	LockMeterDocumentation(String name, Meter.Type type, KeyName... tags) {
		this.name = name;
		this.type = type;
		this.tags = tags;
	}

	@Override
	public String getName() {
		return this.name;
	}

	@Override
	public Meter.Type getType() {
		return this.type;
	}

	@Override
	public KeyName[] getKeyNames() {
		return this.tags.clone();
	}

	@Override
	public String getPrefix() {
		return "";
	}

	/**
	 * The tags of these meters.
	 */
	enum Tag implements KeyName {

		/**
		 * The label of the lock: the name of the annotation or of the request, for an
		 * annotation without a name {@code SimpleClass.method}, otherwise {@code none}.
		 */
		NAME,

		/**
		 * The store: {@code redis}, {@code redlock}, {@code jdbc}, {@code zookeeper},
		 * {@code etcd}, {@code memory}, for a store of your own the name of its class
		 * without {@code LockStore}.
		 */
		STORE,

		/**
		 * How it ended. Requests: {@code acquired}, {@code busy}, {@code unavailable},
		 * {@code interrupted}. Renewals: {@code renewed}, {@code late} (renewed when less
		 * than a third of the ttl was left), {@code failed} (no answer; tried again),
		 * {@code refused} (another owner has the lock, or none). Commands:
		 * {@code answered}, {@code failed}.
		 */
		OUTCOME,

		/**
		 * Why a lock was lost: {@code expired}, {@code not_owner},
		 * {@code found_at_release}, {@code forced}, {@code stopped},
		 * {@code thread_ended}.
		 */
		CAUSE,

		/**
		 * {@code local} or {@code remote}.
		 */
		KIND,

		/**
		 * {@code commit} or {@code fence}.
		 */
		GUARD,

		/**
		 * {@code acquire}, {@code renew} or {@code release}.
		 */
		COMMAND,

		/**
		 * The server that is responsible for the key, such as a node of a cluster;
		 * {@code none} where one server, or a majority, answers for all keys.
		 */
		SHARD;

		@Override
		public String asString() {
			return LockMeters.value(this);
		}

	}

}
