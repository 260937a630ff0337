package io.github.lockspring.model;

import io.github.lockspring.model.Instance.Phase;
import io.github.lockspring.model.Scenario.Fault;
import io.github.lockspring.model.Scenario.Option;
import org.jspecify.annotations.Nullable;

/**
 * Everything that can happen, one step each. A step takes no time; any number of ticks
 * may be between two steps.
 */
enum Event {

	// callers and acquire attempts

	CALLER_ARRIVES("a caller wants the lock, acquire is sent", null, (world, instance) -> instance.mayBegin(),
			(world, instance) -> instance.begin()),

	ATTEMPT_EXECUTED("acquire is executed", null, is(Phase.ASKING), (world, instance) -> instance.attemptExecuted()),

	RESULT_RECEIVED("the result of acquire arrives", null, whileRoom(is(Phase.ANSWERED)),
			(world, instance) -> instance.resultReceived()),

	ATTEMPT_REPEATED("acquire is sent again", null, (world, instance) -> instance.waits(),
			(world, instance) -> instance.attempt()),

	ASKS_WITH_SHORT_GRANT("no message can reach it: releases its token and asks with one for a short grant", null,
			whileRoom((world, instance) -> instance.mayAskWithShortGrant()),
			(world, instance) -> instance.askWithShortGrant()),

	ATTEMPT_TIMES_OUT("acquire times out, and will be executed later", Fault.LOSS, whileRoomFor(2, is(Phase.ASKING)),
			(world, instance) -> {
				world.send(instance.attemptCommand());
				instance.attemptFailed();
			}),

	ATTEMPT_DOUBLED("acquire is executed, and will be executed once more", Fault.LOSS,
			whileRoomFor(1, is(Phase.ASKING)), (world, instance) -> {
				world.send(instance.attemptCommand());
				instance.attemptExecuted();
			}),

	RESULT_LOST("the result of acquire is lost", Fault.LOSS, whileRoom(is(Phase.ANSWERED)),
			(world, instance) -> instance.attemptFailed()),

	CALLER_GIVES_UP("the last caller gives up, release is sent", null,
			whileRoom((world, instance) -> instance.waits() && world.scenario().has(Option.GIVING_UP)),
			(world, instance) -> instance.release()),

	// messages

	MESSAGE_RECEIVED("receives a message", null, whileRoom((world, instance) -> instance.hasMessage(0)),
			(world, instance) -> instance.receive(instance.removeMessage(0))),

	MESSAGE_OVERTAKES("receives its second message first", Fault.LOSS,
			whileRoom((world, instance) -> instance.hasMessage(1)),
			(world, instance) -> instance.receive(instance.removeMessage(1))),

	MESSAGE_DOUBLED("receives a message that will arrive once more", Fault.LOSS,
			whileRoom((world, instance) -> instance.hasMessage(0)),
			(world, instance) -> instance.receive(instance.message(0))),

	MESSAGE_LOST("a message to it is lost", Fault.LOSS, (world, instance) -> instance.hasMessage(0),
			(world, instance) -> instance.removeMessage(0)),

	SUBSCRIPTION_LOST("its subscription ends unnoticed", Fault.SUBSCRIPTION,
			(world, instance) -> instance.isAlive() && instance.isSubscribed(),
			(world, instance) -> instance.unsubscribe()),

	SUBSCRIPTION_MISSED("notices that its subscription has ended", null,
			(world, instance) -> instance.isConfirmed() && !instance.isSubscribed(),
			(world, instance) -> instance.noticeThatUnsubscribed()),

	SUBSCRIBED("subscribes again", null,
			(world, instance) -> instance.isAlive() && instance.role().hasInbox() && !instance.isConfirmed(),
			(world, instance) -> instance.subscribe()),

	// ownership

	HANDED_OFF("hands the lock to a local caller", null, (world, instance) -> instance.mayHandOff(),
			(world, instance) -> instance.handOff()),

	HOLD_ENDS("the work is done, release is sent", null, whileRoom((world, instance) -> instance.isHolder()),
			(world, instance) -> instance.release()),

	LEASE_ENDS("notices that its lease is over, release is sent", null,
			whileRoom((world, instance) -> instance.isLeaseOver()), (world, instance) -> instance.release()),

	RENEWAL_SENT("sends a renewal", null, (world, instance) -> instance.mayRenew(),
			(world, instance) -> instance.sendRenewal(Scenario.TTL)),

	SHORT_RENEWAL_SENT("sends a renewal with a shorter TTL", null,
			(world, instance) -> instance.mayRenew() && world.scenario().has(Option.SHORT_RENEWALS),
			(world, instance) -> instance.sendRenewal(Scenario.SHORT_TTL)),

	RENEWAL_EXECUTED("the renewal is executed", null,
			(world, instance) -> instance.renewal().state() == Renewal.State.SENT,
			(world, instance) -> instance.renewalExecuted()),

	RENEWAL_RESULT("the result of the renewal arrives", null,
			whileRoom((world, instance) -> instance.renewal().state() == Renewal.State.EXECUTED),
			(world, instance) -> instance.renewalResult()),

	// commands on their way

	COMMAND_EXECUTED(" is executed", null, Scope.NETWORK, (world, index) -> true,
			(world, index) -> world.execute(world.network().remove(index))),

	COMMAND_DOUBLED(" is executed, and will be executed once more", Fault.LOSS, Scope.NETWORK,
			(world, index) -> world.hasRoomInNetwork() || world.network().get(index).isRelease(),
			(world, index) -> world.execute(world.network().get(index))),

	LATE_RESULT_LOST(" is executed, and its result is lost", Fault.LOSS, Scope.NETWORK,
			(world, index) -> !world.network().get(index).isRelease(),
			(world, index) -> world.executeWithoutResult(world.network().remove(index))),

	RELEASE_LOST(" never arrives", Fault.LOSS, Scope.NETWORK,
			(world, index) -> world.network().get(index).isRelease()
					&& !world.scenario().has(Rule.RELEASES_ARE_REPEATED),
			(world, index) -> world.network().remove(index)),

	RELEASE_MISCOUNTS(" is executed, and PUBLISH counts no subscriber although there is one", Fault.LOSS, Scope.NETWORK,
			(world, index) -> world.network().get(index).isRelease()
					&& !world.scenario().has(Rule.COUNT_BEFORE_PUBLISHING) && world.store().hasWaiters(),
			(world, index) -> world.release(world.network().remove(index), true)),

	// what happens to instances and the store

	CRASHES("crashes", Fault.CRASH, (world, instance) -> instance.isAlive(), (world, instance) -> instance.crash()),

	CRASH_NOTICED("the server notices that it has crashed", null,
			(world, instance) -> !instance.isAlive() && instance.isSubscribed(),
			(world, instance) -> instance.unsubscribe()),

	DATA_LOST("the store loses its data", Fault.DATA_LOSS, Scope.WORLD, (world, index) -> true,
			(world, index) -> world.loseData()),

	CLOCK_STANDS("the server's clock stands; acquire is executed", Fault.CLOCK, is(Phase.ASKING), (world, instance) -> {
		world.store().letClockStand();
		instance.attemptExecuted();
	}),

	PLAIN_CLIENT_ACQUIRES("a plain client acquires the lock", Fault.PLAIN_CLIENT, Scope.WORLD,
			(world, index) -> world.store().isFree(), (world, index) -> world.store().takeByPlainClient()),

	PLAIN_CLIENT_RELEASES("the plain client deletes the lock", null, Scope.WORLD,
			(world, index) -> world.store().owner() == Tokens.PLAIN_CLIENT,
			(world, index) -> world.store().deleteByPlainClient()),

	OTHER_LOCK_ACQUIRED("another lock with the same last fencing token is acquired", null, Scope.WORLD,
			(world, index) -> world.scenario().has(Option.OTHER_LOCKS),
			(world, index) -> world.store().acquireOtherLock()),

	TICK("a tick passes", null, Scope.WORLD, (world, index) -> true, (world, index) -> world.tick());

	/**
	 * The part of a state that an event happens to.
	 */
	enum Scope {

		INSTANCE, NETWORK, WORLD;

		int size(World world) {
			return switch (this) {
				case INSTANCE -> world.instances().size();
				case NETWORK -> world.network().size();
				case WORLD -> 1;
			};
		}

		String describe(World world, int index) {
			return switch (this) {
				case INSTANCE -> Tokens.instanceName(index) + ": ";
				case NETWORK -> "network: " + world.network().get(index);
				case WORLD -> "";
			};
		}

	}

	/** Whether it can happen. */
	private interface Condition {

		boolean test(World world, Instance instance);

	}

	private interface Effect {

		void on(World world, Instance instance);

	}

	private interface IndexCondition {

		boolean test(World world, int index);

	}

	private interface IndexEffect {

		void on(World world, int index);

	}

	static final Event[] ALL = values();

	private final String text;

	private final @Nullable Fault fault;

	private final Scope scope;

	private final IndexCondition condition;

	private final IndexEffect effect;

	Event(String text, @Nullable Fault fault, Condition condition, Effect effect) {
		this(text, fault, Scope.INSTANCE, (world, index) -> condition.test(world, world.instance(index)),
				(world, index) -> effect.on(world, world.instance(index)));
	}

	Event(String text, @Nullable Fault fault, Scope scope, IndexCondition condition, IndexEffect effect) {
		this.text = text;
		this.fault = fault;
		this.scope = scope;
		this.condition = condition;
		this.effect = effect;
	}

	private static Condition is(Phase phase) {
		return (world, instance) -> instance.phase() == phase;
	}

	/**
	 * What may send a command in the background waits while too many are on their way.
	 */
	private static Condition whileRoom(Condition condition) {
		return whileRoomFor(1, condition);
	}

	private static Condition whileRoomFor(int commands, Condition condition) {
		return (world, instance) -> condition.test(world, instance)
				&& world.network().size() + commands <= World.MAX_NETWORK;
	}

	String text() {
		return this.text;
	}

	@Nullable Fault fault() {
		return this.fault;
	}

	Scope scope() {
		return this.scope;
	}

	boolean isPossible(World world, int index) {
		return this.condition.test(world, index);
	}

	void perform(World world, int index) {
		this.effect.on(world, index);
	}

}
