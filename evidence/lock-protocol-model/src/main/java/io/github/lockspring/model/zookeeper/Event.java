package io.github.lockspring.model.zookeeper;

import io.github.lockspring.model.zookeeper.Call.Stage;
import io.github.lockspring.model.zookeeper.Instance.Phase;
import org.jspecify.annotations.Nullable;

/**
 * Everything that can happen, one step each. A step takes no time; any number of ticks
 * may be between two steps.
 */
enum Event {

	CALLER_ARRIVES("a caller wants the lock", null, (world, instance) -> instance.mayBegin(),
			(world, instance) -> instance.begin()),

	CALLER_GIVES_UP("the caller gives up", null, (world, instance) -> instance.mayGiveUp(),
			(world, instance) -> instance.giveUp()),

	HOLD_ENDS("the work is done", null, (world, instance) -> instance.is(Phase.HELD) && instance.isIdle(),
			(world, instance) -> instance.endHold()),

	HOLD_EXPIRES("the hold is over", null, (world, instance) -> instance.isOver(),
			(world, instance) -> instance.expire()),

	CALLER_RESUMES("another caller looks for the node", null, (world, instance) -> instance.mayResume(),
			(world, instance) -> instance.resume()),

	REQUEST_SENT("sends", null, (world, instance) -> instance.maySend(), (world, instance) -> instance.send()),

	REQUEST_EXECUTED("is carried out", null,
			(world, instance) -> instance.call().is(Stage.SENT) && world.hasSession(instance),
			(world, instance) -> instance.answered(world.server().execute(instance.call()))),

	ANSWER_RECEIVED("is answered", null, (world, instance) -> instance.call().is(Stage.ANSWERED),
			(world, instance) -> instance.receive()),

	CHECK_SENT("checks", null, (world, instance) -> instance.mayCheck(), (world, instance) -> instance.sendCheck()),

	CHECK_EXECUTED("the check is carried out", null,
			(world, instance) -> instance.check().is(Stage.SENT) && world.hasSession(instance),
			(world, instance) -> instance.checkAnswered(world.server().execute(instance.check()))),

	CHECK_RECEIVED("the check is answered", null, (world, instance) -> instance.check().is(Stage.ANSWERED),
			(world, instance) -> instance.receiveCheck()),

	SESSION_BEGUN("begins a session", null, (world, instance) -> instance.mayConnect(), (world, instance) -> {
		world.server().begin(instance.number());
		instance.connected(Names.newSession(instance.number()));
	}),

	CONNECTION_LOST("its connection is lost", Fault.CONNECTION, (world, instance) -> instance.isConnected(),
			(world, instance) -> world.disconnect(instance)),

	SERVER_DIES("its server dies", Fault.SERVER, (world, instance) -> instance.isConnected(), (world, instance) -> {
		world.server().die(instance.session());
		world.disconnect(instance);
	}),

	CONNECTION_ENDS("its connection ends, with its session or without an answer", null,
			(world, instance) -> instance.isConnected() && (!world.hasSession(instance) || instance.isSilent()),
			(world, instance) -> world.disconnect(instance)),

	RECONNECTED("connects again", null, (world, instance) -> instance.session() != 0 && !instance.isConnected(),
			(world, instance) -> world.reconnect(instance)),

	SESSION_GIVEN_UP("gives its session up", Fault.GIVEN_UP,
			(world, instance) -> instance.session() != 0 && !instance.isConnected(),
			(world, instance) -> instance.giveSessionUp()),

	WATCH_FIRES(
			"learns that the node before it is gone", null, (world, instance) -> instance.isConnected()
					&& instance.is(Phase.WAITING) && world.server().isNotified(instance.number()),
			(world, instance) -> {
				world.server().catchUp(instance.number());
				world.server().endWatch(instance.number());
				instance.watchFired();
			}),

	WATCH_LOST("its watch is lost", Fault.WATCH, (world, instance) -> world.server().isWatching(instance.number()),
			(world, instance) -> world.server().endWatch(instance.number())),

	SERVER_CATCHES_UP("its server catches up", null,
			(world, instance) -> world.server().isBehind(instance.number()) && instance.isConnected(),
			(world, instance) -> world.server().catchUp(instance.number())),

	CRASHES("crashes", Fault.CRASH, (world, instance) -> !instance.is(Phase.DEAD), (world, instance) -> {
		world.disconnect(instance);
		instance.crash();
	}),

	SUSPENDED("is suspended for a tick", Fault.SUSPENSION, (world, instance) -> !world.server().isReportDue(),
			(world, instance) -> world.tick(instance.number())),

	LATE_REQUEST_EXECUTED("is carried out late", null, Scope.NETWORK, (world, index) -> true,
			(world, index) -> world.executeLate(index)),

	LATE_REQUEST_LOST("is lost", null, Scope.NETWORK, (world, index) -> true,
			(world, index) -> world.network().remove(index)),

	REPORTED("is reported to the leader", null, Scope.SESSION,
			(world, index) -> world.server().sessions().get(index).unreported() >= 0,
			(world, index) -> world.server().report(index)),

	SESSION_ENDS("ends", null, Scope.SESSION, (world, index) -> world.server().sessions().get(index).left() == 0,
			(world, index) -> world.server().end(index)),

	DELETED_BY_HAND("is deleted by hand", Fault.BY_HAND, Scope.NODE, (world, index) -> true,
			(world, index) -> world.deleteByHand(index)),

	TICK("a tick passes", null, Scope.WORLD, (world, index) -> world.mayTick(),
			(world, index) -> world.tick(World.NOBODY));

	/**
	 * The part of a state that an event happens to.
	 */
	enum Scope {

		INSTANCE, NETWORK, SESSION, NODE, WORLD;

		int size(World world) {
			return switch (this) {
				case INSTANCE -> world.instances().size();
				case NETWORK -> world.network().size();
				case SESSION -> world.server().sessions().size();
				case NODE -> world.server().nodes().size();
				case WORLD -> 1;
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

	/** Describes what is about to happen to which part of a state. */
	String describe(World world, int index) {
		String subject = switch (this.scope) {
			case INSTANCE -> World.name(index) + ": ";
			case NETWORK -> World.name(world.network().get(index).instance()) + ": " + world.network().get(index) + " ";
			case SESSION -> "session " + Names.session("S", world.server().sessions().get(index).id()) + " ";
			case NODE -> "node " + world.server().nodes().get(index) + " ";
			case WORLD -> "";
		};
		return switch (this) {
			case REQUEST_SENT -> subject + this.text + " " + world.instance(index).next();
			case REQUEST_EXECUTED, ANSWER_RECEIVED ->
				subject + world.instance(index).call().request() + " " + this.text;
			default -> subject + this.text;
		};
	}

}
