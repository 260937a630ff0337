package io.github.lockspring.model.etcd;

import io.github.lockspring.model.etcd.Answer.Outcome;
import io.github.lockspring.model.etcd.Call.Stage;
import io.github.lockspring.model.etcd.Place.Phase;
import io.github.lockspring.model.etcd.Request.Type;
import org.jspecify.annotations.Nullable;

/**
 * Everything that can happen, one step each. A step takes no time; any number of ticks
 * may be between two steps.
 */
enum Event {

	// callers

	CALLER_ARRIVES("a caller wants the lock", null, (world, place) -> place.mayBegin(),
			(world, place) -> place.begin()),

	CALLER_GIVES_UP("the caller gives up", null, (world, place) -> place.mayGiveUp(), (world, place) -> place.giveUp()),

	HOLD_ENDS("the work is done", null, (world, place) -> place.is(Phase.HELD) && place.isIdle(),
			(world, place) -> place.endHold()),

	HOLD_ENDS_KEPT("the work is done, the lock is to be kept", null, (world, place) -> place.mayKeep(),
			(world, place) -> place.keep()),

	HOLD_EXPIRES("the hold is over", null, (world, place) -> place.isOver(), (world, place) -> place.expire()),

	CALLER_RESUMES("another caller finds the entry in the list", null, (world, place) -> place.mayResume(),
			(world, place) -> place.resume()),

	// requests of a token

	OTHER_LENGTH("its next attempt names the other lease", null, (world, place) -> place.mayNameOther(),
			(world, place) -> place.nameOther()),

	REQUEST_SENT("sends", null, (world, place) -> place.maySend(), (world, place) -> place.send()),

	REQUEST_EXECUTED("is carried out", null, call(Stage.SENT),
			(world, place) -> place.callAnswered(world.server().execute(place.call().request()))),

	ANSWER_RECEIVED("is answered", null, call(Stage.ANSWERED), World::receive),

	REQUEST_TIMES_OUT("has no answer, and is carried out later or never", Fault.LOSS, call(Stage.SENT),
			(world, place) -> {
				world.sendLate(place.call().request());
				place.callFailed();
			}),

	ANSWER_LOST("is carried out, its answer is lost", Fault.LOSS, call(Stage.SENT), (world, place) -> {
		world.server().execute(place.call().request());
		place.callFailed();
	}),

	ADDITION_REPEATED("is carried out, and will be once more", Fault.REPETITION,
			(world, place) -> place.call().is(Stage.SENT) && place.call().request().type() == Type.ADD,
			(world, place) -> {
				world.sendLate(place.call().request());
				place.additionRepeated();
				place.callAnswered(world.server().execute(place.call().request()));
			}),

	// leases

	LEASE_ASKED("asks for a lease", null, Scope.INSTANCE,
			(world, index) -> world.instance(index).mayGrant(LeaseKind.FIRST),
			(world, index) -> world.instance(index).grant(LeaseKind.FIRST)),

	OTHER_LEASE_ASKED("asks for another lease", null, Scope.INSTANCE,
			(world, index) -> world.instance(index).mayGrant(LeaseKind.OTHER),
			(world, index) -> world.instance(index).grant(LeaseKind.OTHER)),

	LONGER_LEASE_ASKED("asks for a longer lease", null, Scope.INSTANCE,
			(world, index) -> world.instance(index).mayGrant(LeaseKind.RAISED),
			(world, index) -> world.instance(index).grant(LeaseKind.RAISED)),

	KEEP_ALIVE_SENT("keeps its lease alive", null,
			(world, place) -> place.instance().mayKeepAlive(LeaseKind.FIRST, place),
			(world, place) -> place.instance().keepAlive(LeaseKind.FIRST, place)),

	OTHER_KEEP_ALIVE_SENT("keeps its other lease alive", null,
			(world, place) -> place.instance().mayKeepAlive(LeaseKind.OTHER, place),
			(world, place) -> place.instance().keepAlive(LeaseKind.OTHER, place)),

	LONGER_KEEP_ALIVE_SENT("keeps its longer lease alive", null,
			(world, place) -> place.instance().mayKeepAlive(LeaseKind.RAISED, place),
			(world, place) -> place.instance().keepAlive(LeaseKind.RAISED, place)),

	RENEWAL_EXECUTED("is carried out", null, Scope.INSTANCE, renewal(Stage.SENT),
			(world, index) -> answerRenewal(world, index,
					world.server().execute(world.instance(index).renewal().request()))),

	RENEWAL_RECEIVED("is answered", null, Scope.INSTANCE, renewal(Stage.ANSWERED),
			(world, index) -> world.receiveRenewal(world.instance(index))),

	RENEWAL_TIMES_OUT("has no answer, and is carried out later or never", Fault.LOSS, Scope.INSTANCE,
			renewal(Stage.SENT), (world, index) -> {
				world.sendLate(world.instance(index).renewal().request());
				world.instance(index).renewalFailed();
			}),

	FORMER_LEADER_RENEWS("is answered with \"renewed\" by the former leader", null, Scope.INSTANCE,
			Event::isKeepAliveAtFormerLeader,
			(world, index) -> answerRenewal(world, index,
					Server.renewed(Outcome.DONE, Guard.NONE, world.server().term() - 1))),

	FORMER_LEADER_KNOWS_NO_LEASE("is answered with \"lease not found\" by the former leader", null, Scope.INSTANCE,
			Event::isKeepAliveAtFormerLeader,
			(world, index) -> answerRenewal(world, index,
					Server.renewed(Outcome.NO_LEASE, Guard.NONE, world.server().term() - 1))),

	RENEWED_AFTER_END("is answered with \"renewed\" although the lease is gone", Fault.RENEWED_AFTER_END,
			Scope.INSTANCE,
			(world, index) -> isKeepAlive(world.instance(index))
					&& !world.server().hasLease(world.instance(index).renewal().request().lease()),
			(world, index) -> answerRenewal(world, index,
					Server.renewed(Outcome.DONE, Guard.NONE, world.server().term()))),

	UNUSED_LEASE_REVOKED("revokes its lease, and uses it again", null,
			(world, place) -> place.mayRevoke() && world.network().isEmpty(),
			(world, place) -> world.sendLate(new Request(Type.REVOKE, place.instance().number(), 0, 0, 0,
					place.instance().lease(LeaseKind.FIRST).id(), LeaseKind.FIRST, Guard.NONE, false, 0))),

	LEASE_ENDS("ends", null, Scope.LEASE, (world, index) -> world.server().data().leases().get(index).left() == 0,
			(world, index) -> world.server().end(world.server().data().leases().get(index).id())),

	// watches

	WATCH_FIRES("learns that the entry before it is gone", null,
			(world, place) -> world.server().isNotified(place.number()), (world, place) -> {
				world.server().endWatch(place.number());
				place.watchFired();
			}),

	WATCH_LOST("its watch is lost", Fault.WATCH, (world, place) -> world.server().isWatching(place.number()),
			(world, place) -> world.server().endWatch(place.number())),

	// late requests

	LATE_REQUEST_EXECUTED("is carried out late", null, Scope.NETWORK, (world, index) -> true,
			(world, index) -> world.server().execute(world.network().remove(index))),

	LATE_REQUEST_LOST("is lost", null, Scope.NETWORK, (world, index) -> true,
			(world, index) -> world.network().remove(index)),

	// what else goes wrong

	HOLDER_HANGS("its work hangs", Fault.HANG, (world, place) -> place.is(Phase.HELD), (world, place) -> place.hang()),

	CRASHES("crashes", Fault.CRASH, Scope.INSTANCE, (world, index) -> !world.instance(index).isDead(),
			(world, index) -> world.crash(world.instance(index))),

	SUSPENDED("is suspended for a tick", Fault.SUSPENSION, Scope.INSTANCE,
			(world, index) -> !world.instance(index).isDead(), (world, index) -> world.tick(index)),

	DELETED_BY_HAND("is deleted by hand", Fault.BY_HAND, Scope.ENTRY, (world, index) -> true,
			(world, index) -> world.deleteByHand(index)),

	LEADER_REPLACED("another leader is elected", Fault.LEADER, Scope.WORLD, (world, index) -> true,
			(world, index) -> world.server().electLeader()),

	BACKED_UP("a backup is taken", null, Scope.WORLD,
			(world, index) -> world.mayBeRestored() && !world.server().isBackedUp(),
			(world, index) -> world.server().backUp()),

	RESTORED("the backup is restored", Fault.RESTORE, Scope.WORLD, (world, index) -> world.server().isBackedUp(),
			(world, index) -> world.restore()),

	TICK("a tick passes", null, Scope.WORLD, (world, index) -> true, (world, index) -> world.tick(World.NOBODY));

	/**
	 * The part of a state that an event happens to.
	 */
	enum Scope {

		PLACE, INSTANCE, NETWORK, LEASE, ENTRY, WORLD;

		int size(World world) {
			return switch (this) {
				case PLACE -> world.places().size();
				case INSTANCE -> world.instances().size();
				case NETWORK -> world.network().size();
				case LEASE -> world.server().data().leases().size();
				case ENTRY -> world.server().data().entries().size();
				case WORLD -> 1;
			};
		}

	}

	/** Whether it can happen at a place. */
	private interface Condition {

		boolean test(World world, Place place);

	}

	private interface Effect {

		void on(World world, Place place);

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
		this(text, fault, Scope.PLACE, (world, index) -> condition.test(world, world.places().get(index)),
				(world, index) -> effect.on(world, world.places().get(index)));
	}

	Event(String text, @Nullable Fault fault, Scope scope, IndexCondition condition, IndexEffect effect) {
		this.text = text;
		this.fault = fault;
		this.scope = scope;
		this.condition = condition;
		this.effect = effect;
	}

	private static Condition call(Stage stage) {
		return (world, place) -> place.call().is(stage);
	}

	private static IndexCondition renewal(Stage stage) {
		return (world, index) -> world.instance(index).renewal().is(stage);
	}

	private static void answerRenewal(World world, int index, Answer answer) {
		world.instance(index).renewalAnswered(answer);
	}

	private static boolean isKeepAliveAtFormerLeader(World world, int index) {
		return world.server().term() > 0 && isKeepAlive(world.instance(index));
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

	/** Describes what is about to happen to which part of a state. */
	String describe(World world, int index) {
		String subject = switch (this.scope) {
			case PLACE -> world.places().get(index).name() + ": " + request(world.places().get(index));
			case INSTANCE -> World.name(index) + ": " + renewal(world.instance(index));
			case NETWORK -> world.network().get(index).sender() + ": " + world.network().get(index) + " ";
			case LEASE -> "lease " + Names.lease("L", world.server().data().leases().get(index).id()) + " ";
			case ENTRY -> "entry " + world.server().data().entries().get(index) + " ";
			case WORLD -> "";
		};
		return subject + this.text + ((this == REQUEST_SENT) ? " " + world.places().get(index).next() : "");
	}

	private String request(Place place) {
		return switch (this) {
			case REQUEST_EXECUTED, ANSWER_RECEIVED, REQUEST_TIMES_OUT, ANSWER_LOST, ADDITION_REPEATED ->
				place.call().request() + " ";
			default -> "";
		};
	}

	private String renewal(Instance instance) {
		return instance.renewal().is(Stage.NONE) ? "" : instance.renewal().request() + " ";
	}

}
