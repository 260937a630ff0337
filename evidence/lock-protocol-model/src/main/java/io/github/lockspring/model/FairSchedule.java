package io.github.lockspring.model;

import io.github.lockspring.model.Instance.Phase;
import org.jspecify.annotations.Nullable;

/**
 * Decides what happens next when nothing goes wrong any more: what is on its way arrives
 * at once and in order, work takes one tick, and time passes when nothing else is left to
 * do. A crashed instance counts as subscribed for ever.
 */
final class FairSchedule {

	private FairSchedule() {
	}

	/**
	 * Returns the next step; {@link Event#TICK} if nothing is to be done now.
	 */
	static Step<Event> next(World world) {
		return next(world, false);
	}

	/**
	 * Returns the next step.
	 * @param contended whether a new caller arrives whenever one is done
	 */
	static Step<Event> next(World world, boolean contended) {
		if (!world.network().isEmpty()) {
			return new Step<>(Event.COMMAND_EXECUTED, 0);
		}
		for (int i = 0; i < world.instances().size(); i++) {
			Event event = next(world, world.instance(i));
			if (event == null && contended && world.instance(i).phase() == Phase.FREE) {
				event = Event.CALLER_ARRIVES;
			}
			if (event != null) {
				return new Step<>(event, i);
			}
		}
		return new Step<>(Event.TICK, 0);
	}

	private static @Nullable Event next(World world, Instance instance) {
		if (!instance.isAlive()) {
			return null;
		}
		if (instance.hasMessage(0)) {
			return Event.MESSAGE_RECEIVED;
		}
		Event subscription = subscription(instance);
		if (subscription != null) {
			return subscription;
		}
		Event renewal = renewal(instance);
		if (renewal != null) {
			return renewal;
		}
		return switch (instance.phase()) {
			case ASKING -> Event.ATTEMPT_EXECUTED;
			case ANSWERED -> Event.RESULT_RECEIVED;
			case WAITING, RETRYING -> instance.isAttemptDue() ? attempt(instance) : null;
			case HELD -> holder(instance);
			case FREE -> (instance.isNextTryDue() && !world.store().isFree()) ? Event.CALLER_ARRIVES : null;
			case DEAD -> null;
		};
	}

	private static Event attempt(Instance instance) {
		return instance.mayAskWithShortGrant() ? Event.ASKS_WITH_SHORT_GRANT : Event.ATTEMPT_REPEATED;
	}

	private static @Nullable Event subscription(Instance instance) {
		if (!instance.role().hasInbox() || instance.isSubscribed()) {
			return null;
		}
		return instance.isConfirmed() ? Event.SUBSCRIPTION_MISSED : Event.SUBSCRIBED;
	}

	private static @Nullable Event renewal(Instance instance) {
		return switch (instance.renewal().state()) {
			case SENT -> Event.RENEWAL_EXECUTED;
			case EXECUTED -> Event.RENEWAL_RESULT;
			case NONE -> instance.needsRenewal() ? Event.RENEWAL_SENT : null;
		};
	}

	private static @Nullable Event holder(Instance instance) {
		if (instance.isLeaseOver()) {
			return Event.LEASE_ENDS;
		}
		if (instance.isWorkDone()) {
			return instance.wantsToHandOff() ? Event.HANDED_OFF : Event.HOLD_ENDS;
		}
		return null;
	}

	/** Whether nothing is left to be done. */
	static boolean isOver(World world) {
		boolean waits = world.instances()
			.stream()
			.anyMatch((instance) -> instance.isAlive() && instance.phase() != Phase.FREE);
		return !waits && world.store().isFree() && next(world).event() == Event.TICK;
	}

	static boolean isWaitedFor(World world) {
		return world.instances().stream().anyMatch(Instance::waits);
	}

	/** Whether an instance waits while another one holds the lock. */
	static boolean isKept(World world) {
		return isWaitedFor(world) && world.instances().stream().anyMatch(Instance::isHolder);
	}

	/**
	 * Whether an instance that is alive wants the lock and none has it, apart from a
	 * crashed holder, which keeps it until its lease is over.
	 */
	static boolean isIdle(World world) {
		Store store = world.store();
		boolean wanted = world.instances()
			.stream()
			.anyMatch((instance) -> instance.waits() || (instance.role() == Role.TRIES && !store.isFree()));
		boolean held = world.instances().stream().anyMatch(Instance::isHolder);
		return wanted && !held && store.owner() != Tokens.PLAIN_CLIENT
				&& (store.isFree() || store.isGranted() || world.instance(Tokens.instance(store.owner())).isAlive());
	}

}
