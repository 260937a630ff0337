package io.github.lockspring.model.etcd;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

import io.github.lockspring.model.Cells;
import io.github.lockspring.model.LimitReached;
import io.github.lockspring.model.Machine;
import io.github.lockspring.model.Step;
import io.github.lockspring.model.Violation;
import io.github.lockspring.model.etcd.Call.Stage;
import io.github.lockspring.model.etcd.Request.Type;

/**
 * A state of everything: the server, the instances, and the requests that come late. Not
 * thread-safe.
 */
final class World implements Machine<Event> {

	static final int NOBODY = -1;

	/** More late requests are not on their way at once. */
	private static final int MAX_NETWORK = 2;

	private static final int MAX_SIZE = 1024;

	private static final Fault[] FAULTS = Fault.values();

	private final Scenario scenario;

	private final Server server;

	private final List<Instance> instances = new ArrayList<>();

	private final List<Place> places;

	private List<Request> network = new ArrayList<>();

	/** How often each fault may still happen. */
	private final int[] faultsLeft = new int[FAULTS.length];

	/**
	 * The largest revision of an entry that owned each lock as far as its owner knew,
	 * since the last restore.
	 */
	private final int[] highest;

	/**
	 * For how long holds of before a restore may last that their owners do not know of.
	 */
	private int unsettledLeft;

	/** The entry that was last deleted by hand; its owner learns it at a renewal. */
	private int deletedByHand;

	private final byte[] buffer = new byte[MAX_SIZE];

	private final Names names = new Names();

	World(Scenario scenario) {
		this.scenario = scenario;
		this.server = new Server(scenario);
		for (int i = 0; i < scenario.instances(); i++) {
			this.instances.add(new Instance(scenario, i));
		}
		this.places = this.instances.stream().flatMap((instance) -> instance.places().stream()).toList();
		this.highest = new int[scenario.locks()];
		for (Fault fault : FAULTS) {
			this.faultsLeft[fault.ordinal()] = scenario.times(fault);
		}
	}

	static String name(int instance) {
		return String.valueOf((char) ('A' + instance));
	}

	/** Returns the name of an instance's place in a queue. */
	static String name(int instance, int lock) {
		return name(instance) + "'".repeat(lock);
	}

	@Override
	public Machine<Event> fresh() {
		return new World(this.scenario);
	}

	@Override
	public void load(byte[] state) {
		pass(Cells.reader(state));
	}

	@Override
	public byte[] state() {
		Cells cells = Cells.writer(this.buffer);
		pass(cells);
		return cells.written();
	}

	private void pass(Cells cells) {
		this.server.pass(cells);
		this.instances.forEach((instance) -> instance.pass(cells));
		this.network = cells.pass(this.network, (passed, request) -> request.pass(passed), Request.NONE);
		for (int i = 0; i < this.faultsLeft.length; i++) {
			this.faultsLeft[i] = cells.pass(this.faultsLeft[i]);
		}
		for (int i = 0; i < this.highest.length; i++) {
			this.highest[i] = cells.pass(this.highest[i]);
		}
		this.unsettledLeft = cells.pass(this.unsettledLeft);
		this.deletedByHand = cells.pass(this.deletedByHand);
	}

	Server server() {
		return this.server;
	}

	List<Instance> instances() {
		return this.instances;
	}

	Instance instance(int number) {
		return this.instances.get(number);
	}

	List<Place> places() {
		return this.places;
	}

	List<Request> network() {
		return this.network;
	}

	// steps

	@Override
	public Event[] events() {
		return Event.ALL;
	}

	@Override
	public List<Step<Event>> possibleSteps() {
		List<Step<Event>> steps = new ArrayList<>();
		for (Event event : Event.ALL) {
			if (event.fault() != null && this.faultsLeft[event.fault().ordinal()] == 0) {
				continue;
			}
			for (int i = 0; i < event.scope().size(this); i++) {
				if (event.isPossible(this, i)) {
					steps.add(new Step<>(event, i));
				}
			}
		}
		return steps;
	}

	@Override
	public void perform(Step<Event> step) {
		Fault fault = step.event().fault();
		if (fault != null) {
			this.faultsLeft[fault.ordinal()]--;
		}
		step.event().perform(this, step.index());
		this.places.forEach(Place::sendWhatNeedsNoTime);
		check();
		normalise();
	}

	@Override
	public void setFair() {
		this.instances.forEach(Instance::setFair);
	}

	@Override
	public String describe(Step<Event> step) {
		return step.event().describe(this, step.index());
	}

	private void check() {
		int[] holders = new int[this.scenario.locks()];
		for (Place place : this.places) {
			place.judge(this.server.data().entry(place.instance().number(), place.lock()));
			if (place.isHolder() && place.revision() != this.deletedByHand) {
				holders[place.lock()] += countHolder(place);
			}
			Violation.check(holders[place.lock()] < 2, "two holders");
		}
	}

	/**
	 * A hold of before a restore may go on until its owner knows, or its time is over.
	 */
	private int countHolder(Place place) {
		if (place.past() != this.server.past()) {
			return (this.unsettledLeft > 0) ? 0 : 1;
		}
		Violation.check(place.revision() >= this.highest[place.lock()], "the fencing token does not grow");
		this.highest[place.lock()] = place.revision();
		return 1;
	}

	void tick(int suspended) {
		this.server.tick();
		this.instances.forEach((instance) -> instance.tick(instance.number() == suspended));
		this.unsettledLeft = Math.max(this.unsettledLeft - 1, 0);
	}

	void deleteByHand(int number) {
		this.deletedByHand = this.server.data().entries().get(number).revision();
		this.server.deleteByHand(number);
	}

	void crash(Instance instance) {
		for (Place place : instance.places()) {
			if (place.call().is(Stage.SENT)) {
				sendLate(place.call().request());
			}
		}
		instance.crash();
	}

	/** Whether something that is gone may come back. */
	boolean mayBeRestored() {
		return this.faultsLeft[Fault.RESTORE.ordinal()] > 0;
	}

	/** Tokens may begin again, unless a floor is set. */
	void restore() {
		this.server.restore();
		this.places.forEach(Place::forgetLoss);
		Arrays.fill(this.highest, 0);
		this.unsettledLeft = this.scenario.ttl();
	}

	void receive(Place place) {
		receive(place.instance(), place::receive);
	}

	void receiveRenewal(Instance instance) {
		boolean judged = instance.renewal().request().type() != Type.KEEP_ALIVE;
		if (judged) {
			receive(instance, instance::receiveRenewal);
		}
		else {
			instance.receiveRenewal();
		}
	}

	/** The answer of a transaction is true: a lease that it takes for gone is gone. */
	private void receive(Instance instance, Runnable answer) {
		boolean judged = instance.past() == this.server.past() && !this.scenario.has(Scenario.Option.FALSE_LOSSES);
		int[] before = Stream.of(LeaseKind.ALL).mapToInt((kind) -> instance.lease(kind).id()).toArray();
		answer.run();
		for (LeaseKind kind : LeaseKind.ALL) {
			int known = before[kind.ordinal()];
			boolean lost = known != 0 && instance.lease(kind).id() != known;
			Violation.check(!judged || !lost || !this.server.hasLease(known), "a lease that lives is taken for lost");
		}
	}

	void sendLate(Request request) {
		if (request.isRead()) {
			return;
		}
		if (this.network.size() == MAX_NETWORK) {
			throw new LimitReached();
		}
		this.network.add(request);
	}

	// normal form

	private void normalise() {
		this.network.removeIf(this::changesNothing);
		for (Place place : this.places) {
			if (!place.is(Place.Phase.WAITING)) {
				this.server.endWatch(place.number());
			}
		}
		this.instances.stream().filter(this::isDone).forEach(Instance::forgetLeases);
		this.names.collect();
		rename();
		if (this.scenario.has(Rule.GUARD_IS_NAMED_AFTER_LEASE)) {
			this.server.forgetLeases((lease) -> !this.names.knows(lease));
		}
		this.server.renameLeases(this.names);
		this.names.rename();
		rename();
		this.server.renameLeases(this.names);
	}

	/** Whether nothing of an instance can matter any more. */
	private boolean isDone(Instance instance) {
		return instance.isDone() && !mayBeRestored()
				&& this.server.data().entries().stream().noneMatch((entry) -> entry.instance() == instance.number())
				&& this.network.stream().noneMatch((request) -> request.instance() == instance.number());
	}

	/** Whether a late request has no effect, now or later. */
	private boolean changesNothing(Request request) {
		return switch (request.type()) {
			case BEGIN -> this.scenario.has(Rule.GUARD_IS_NAMED_AFTER_LEASE);
			case PLACE, READ, WATCH -> true;
			default -> !mayBeRestored() && isLate(request);
		};
	}

	/** Whether what a request is about is gone. */
	private boolean isLate(Request request) {
		return switch (request.type()) {
			case ADD -> !this.server.hasLease(request.lease()) || (this.scenario.has(Rule.ADDITION_COMPARES_GUARD)
					&& this.server.data().guard(request.guard().name()).modified() != request.guard().modified());
			case REMOVE -> !request.settles() && this.scenario.has(Rule.REMOVAL_COMPARES_REVISION) && isGone(request);
			case RAISE, KEEP ->
				isGone(request) || (request.type() == Type.RAISE && !this.server.hasLease(request.lease()));
			case SETTLE, KEEP_ALIVE, REVOKE -> !this.server.hasLease(request.lease());
			case BEGIN, PLACE, READ, WATCH -> throw new IllegalStateException();
		};
	}

	private boolean isGone(Request request) {
		return this.server.data().entry(request.instance(), request.lock()).revision() != request.revision();
	}

	private void rename() {
		this.server.rename(this.names);
		this.instances.forEach((instance) -> instance.rename(this.names));
		this.network.replaceAll((request) -> request.renamed(this.names));
		for (int i = 0; i < this.highest.length; i++) {
			this.highest[i] = this.names.revision(this.highest[i]);
		}
		this.deletedByHand = this.names.revision(this.deletedByHand);
	}

	@Override
	public String toString() {
		return this.server + "; " + this.instances + (this.network.isEmpty() ? "" : "; late " + this.network);
	}

}
