package io.github.lockspring.model.etcd;

import io.github.lockspring.model.etcd.Answer.Outcome;
import io.github.lockspring.model.etcd.Call.Stage;
import io.github.lockspring.model.etcd.Instance.Phase;
import io.github.lockspring.model.etcd.Request.Type;
import org.jspecify.annotations.Nullable;

/**
 * Everything that can happen, one step each. A step takes no time; any number of ticks
 * may be between two steps.
 */
enum Event {

	// callers

	CALLER_ARRIVES("a caller wants the lock", null, (world, instance) -> instance.mayBegin(),
			(world, instance) -> instance.begin()),

	CALLER_GIVES_UP("the caller gives up", null, (world, instance) -> instance.mayGiveUp(),
			(world, instance) -> instance.giveUp()),

	HOLD_ENDS("the work is done", null, (world, instance) -> instance.is(Phase.HELD) && instance.isIdle(),
			(world, instance) -> instance.endHold()),

	HOLD_ENDS_KEPT("the work is done, the lock is to be kept", null, (world, instance) -> instance.mayKeep(),
			(world, instance) -> instance.keep()),

	HOLD_EXPIRES("the hold is over", null, (world, instance) -> instance.isOver(),
			(world, instance) -> instance.expire()),

	CALLER_RESUMES("another caller finds the entry in the list", null, (world, instance) -> instance.mayResume(),
			(world, instance) -> instance.resume()),

	// requests of a token

	REQUEST_SENT("sends", null, (world, instance) -> instance.maySend(), (world, instance) -> instance.send()),

	REQUEST_EXECUTED("is carried out", null, call(Stage.SENT),
			(world, instance) -> instance.callAnswered(world.server().execute(instance.call().request()))),

	ANSWER_RECEIVED("is answered", null, call(Stage.ANSWERED), (world, instance) -> instance.receive()),

	REQUEST_TIMES_OUT("has no answer, and is carried out later or never", Fault.LOSS, call(Stage.SENT),
			(world, instance) -> {
				world.sendLate(instance.call().request());
				instance.callFailed();
			}),

	ANSWER_LOST("is carried out, its answer is lost", Fault.LOSS, call(Stage.SENT), (world, instance) -> {
		world.server().execute(instance.call().request());
		instance.callFailed();
	}),

	ADDITION_REPEATED("is carried out, and will be once more", Fault.REPETITION,
			(world, instance) -> instance.call().is(Stage.SENT) && instance.call().request().type() == Type.ADD,
			(world, instance) -> {
				world.sendLate(instance.call().request());
				instance.additionRepeated();
				instance.callAnswered(world.server().execute(instance.call().request()));
			}),

	// leases

	LEASE_ASKED("asks for a lease", null, (world, instance) -> instance.mayGrant(LeaseKind.FIRST),
			(world, instance) -> instance.grant(LeaseKind.FIRST)),

	LONGER_LEASE_ASKED("asks for a longer lease", null, (world, instance) -> instance.mayGrant(LeaseKind.RAISED),
			(world, instance) -> instance.grant(LeaseKind.RAISED)),

	KEEP_ALIVE_SENT("keeps its lease alive", null, (world, instance) -> instance.mayKeepAlive(LeaseKind.FIRST),
			(world, instance) -> instance.keepAlive(LeaseKind.FIRST)),

	LONGER_KEEP_ALIVE_SENT("keeps its longer lease alive", null,
			(world, instance) -> instance.mayKeepAlive(LeaseKind.RAISED),
			(world, instance) -> instance.keepAlive(LeaseKind.RAISED)),

	RENEWAL_EXECUTED("is carried out", null, renewal(Stage.SENT),
			(world, instance) -> instance.renewalAnswered(world.server().execute(instance.renewal().request()))),

	RENEWAL_RECEIVED("is answered", null, renewal(Stage.ANSWERED), (world, instance) -> world.receiveRenewal(instance)),

	RENEWAL_TIMES_OUT("has no answer, and is carried out later or never", Fault.LOSS, renewal(Stage.SENT),
			(world, instance) -> {
				world.sendLate(instance.renewal().request());
				instance.renewalFailed();
			}),

	FORMER_LEADER_RENEWS("is answered with \"renewed\" by the former leader", null, keepAliveAtFormerLeader(),
			(world, instance) -> instance
				.renewalAnswered(Server.renewed(Outcome.DONE, Guard.NONE, world.server().term() - 1))),

	FORMER_LEADER_KNOWS_NO_LEASE("is answered with \"lease not found\" by the former leader", null,
			keepAliveAtFormerLeader(),
			(world, instance) -> instance
				.renewalAnswered(Server.renewed(Outcome.NO_LEASE, Guard.NONE, world.server().term() - 1))),

	RENEWED_AFTER_END("is answered with \"renewed\" although the lease is gone", Fault.RENEWED_AFTER_END,
			(world, instance) -> isKeepAlive(instance)
					&& !world.server().hasLease(instance.renewal().request().lease()),
			(world, instance) -> instance
				.renewalAnswered(Server.renewed(Outcome.DONE, Guard.NONE, world.server().term()))),

	UNUSED_LEASE_REVOKED("revokes its lease, and uses it again", null,
			(world, instance) -> instance.mayRevoke() && world.network().isEmpty(),
			(world, instance) -> world.sendLate(new Request(Type.REVOKE, instance.number(), 0, 0,
					instance.lease(LeaseKind.FIRST).id(), LeaseKind.FIRST, Guard.NONE, false, 0))),

	LEASE_ENDS("ends", null, Scope.LEASE, (world, index) -> world.server().leases().get(index).left() == 0,
			(world, index) -> world.server().end(world.server().leases().get(index).id())),

	// watches

	WATCH_FIRES("learns that the entry before it is gone", null,
			(world, instance) -> world.server().isNotified(instance.number()), (world, instance) -> {
				world.server().endWatch(instance.number());
				instance.watchFired();
			}),

	WATCH_LOST("its watch is lost", Fault.WATCH, (world, instance) -> world.server().isWatching(instance.number()),
			(world, instance) -> world.server().endWatch(instance.number())),

	// late requests

	LATE_REQUEST_EXECUTED("is carried out late", null, Scope.NETWORK, (world, index) -> true,
			(world, index) -> world.server().execute(world.network().remove(index))),

	LATE_REQUEST_LOST("is lost", null, Scope.NETWORK, (world, index) -> true,
			(world, index) -> world.network().remove(index)),

	// what else goes wrong

	HOLDER_HANGS("its work hangs", Fault.HANG, (world, instance) -> instance.is(Phase.HELD),
			(world, instance) -> instance.hang()),

	CRASHES("crashes", Fault.CRASH, (world, instance) -> !instance.is(Phase.DEAD), (world, instance) -> {
		if (instance.call().is(Stage.SENT)) {
			world.sendLate(instance.call().request());
		}
		instance.crash();
	}),

	SUSPENDED("is suspended for a tick", Fault.SUSPENSION, (world, instance) -> !instance.is(Phase.DEAD),
			(world, instance) -> world.tick(instance.number())),

	DELETED_BY_HAND("is deleted by hand", Fault.BY_HAND, Scope.ENTRY, (world, index) -> true,
			(world, index) -> world.deleteByHand(index)),

	LEADER_REPLACED("another leader is elected", Fault.LEADER, Scope.WORLD, (world, index) -> true,
			(world, index) -> world.server().electLeader()),

	TICK("a tick passes", null, Scope.WORLD, (world, index) -> true, (world, index) -> world.tick(World.NOBODY));

	/**
	 * What an event happens to.
	 */
	enum Scope {

		INSTANCE, NETWORK, LEASE, ENTRY, WORLD;

		int size(World world) {
			return switch (this) {
				case INSTANCE -> world.instances().size();
				case NETWORK -> world.network().size();
				case LEASE -> world.server().leases().size();
				case ENTRY -> world.server().entries().size();
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

	private static Condition call(Stage stage) {
		return (world, instance) -> instance.call().is(stage);
	}

	private static Condition renewal(Stage stage) {
		return (world, instance) -> instance.renewal().is(stage);
	}

	private static Condition keepAliveAtFormerLeader() {
		return (world, instance) -> world.server().term() > 0 && isKeepAlive(instance);
	}

	private static boolean isKeepAlive(Instance instance) {
		return instance.renewal().is(Stage.SENT) && instance.renewal().request().type() == Type.KEEP_ALIVE;
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

	/** Says what is about to happen to which part of a state. */
	String describe(World world, int index) {
		String subject = switch (this.scope) {
			case INSTANCE -> World.name(index) + ": " + request(world.instance(index));
			case NETWORK -> World.name(world.network().get(index).instance()) + ": " + world.network().get(index) + " ";
			case LEASE -> "lease " + Names.lease("L", world.server().leases().get(index).id()) + " ";
			case ENTRY -> "entry " + world.server().entries().get(index) + " ";
			case WORLD -> "";
		};
		return subject + this.text + ((this == REQUEST_SENT) ? " " + world.instance(index).next() : "");
	}

	private String request(Instance instance) {
		return switch (this) {
			case REQUEST_EXECUTED, ANSWER_RECEIVED, REQUEST_TIMES_OUT, ANSWER_LOST, ADDITION_REPEATED ->
				instance.call().request() + " ";
			case RENEWAL_EXECUTED, RENEWAL_RECEIVED, RENEWAL_TIMES_OUT, FORMER_LEADER_RENEWS,
					FORMER_LEADER_KNOWS_NO_LEASE, RENEWED_AFTER_END ->
				instance.renewal().request() + " ";
			default -> "";
		};
	}

}
