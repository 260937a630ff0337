package io.github.lockspring.model.etcd;

import java.util.ArrayList;
import java.util.List;

import io.github.lockspring.model.Cells;
import io.github.lockspring.model.LimitReached;
import io.github.lockspring.model.Machine;
import io.github.lockspring.model.Step;
import io.github.lockspring.model.Violation;
import io.github.lockspring.model.etcd.Request.Type;

/**
 * A state of everything: the server, the instances, and the requests that come late. Not
 * thread-safe.
 */
final class World implements Machine<Event> {

	static final int NOBODY = -1;

	/** More late requests are not on their way at once. */
	private static final int MAX_NETWORK = 2;

	private static final int MAX_SIZE = 512;

	private static final Fault[] FAULTS = Fault.values();

	private final Scenario scenario;

	private final Server server;

	private final List<Instance> instances = new ArrayList<>();

	private List<Request> network = new ArrayList<>();

	/** How often each fault may still happen. */
	private final int[] faultsLeft = new int[FAULTS.length];

	/** The largest revision of an entry that owned the lock as far as its owner knew. */
	private int highest;

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
		for (Fault fault : FAULTS) {
			this.faultsLeft[fault.ordinal()] = scenario.times(fault);
		}
	}

	static String name(int instance) {
		return String.valueOf((char) ('A' + instance));
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
		this.highest = cells.pass(this.highest);
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
		this.instances.forEach(Instance::sendWhatNeedsNoTime);
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
		int holders = 0;
		for (Instance instance : this.instances) {
			instance.judge(this.server.entry(instance.number()));
			if (instance.isHolder() && instance.revision() != this.deletedByHand) {
				holders++;
				Violation.check(instance.revision() >= this.highest, "the fencing token does not grow");
				this.highest = instance.revision();
			}
		}
		Violation.check(holders < 2, "two holders");
	}

	void tick(int suspended) {
		this.server.tick();
		this.instances.forEach((instance) -> instance.tick(instance.number() == suspended));
	}

	void deleteByHand(int place) {
		this.deletedByHand = this.server.entries().get(place).revision();
		this.server.deleteByHand(place);
	}

	/** A read is true: a lease that it takes for gone is gone. */
	void receiveRenewal(Instance instance) {
		Request request = instance.renewal().request();
		int before = instance.lease(request.kind()).id();
		instance.receiveRenewal();
		boolean lost = before != 0 && instance.lease(request.kind()).id() != before;
		boolean judged = request.type() == Type.READ && !this.scenario.has(Scenario.Option.FALSE_LOSSES);
		Violation.check(!judged || !lost || !this.server.hasLease(before), "a lease that lives is taken for lost");
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
		for (Instance instance : this.instances) {
			if (!instance.is(Instance.Phase.WAITING)) {
				this.server.endWatch(instance.number());
			}
			if (isDone(instance)) {
				instance.forgetLeases();
			}
		}
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
		return instance.isDone() && this.server.entry(instance.number()) == Entry.NONE
				&& this.network.stream().noneMatch((request) -> request.instance() == instance.number());
	}

	/** Whether a late request has no effect, now or later. */
	private boolean changesNothing(Request request) {
		return switch (request.type()) {
			case BEGIN -> this.scenario.has(Rule.GUARD_IS_NAMED_AFTER_LEASE);
			case ADD -> !this.server.hasLease(request.lease()) || (this.scenario.has(Rule.ADDITION_COMPARES_GUARD)
					&& this.server.guard(request.guard().name()).modified() != request.guard().modified());
			case REMOVE -> !request.settles() && this.scenario.has(Rule.REMOVAL_COMPARES_REVISION) && isGone(request);
			case RAISE, KEEP ->
				isGone(request) || (request.type() == Type.RAISE && !this.server.hasLease(request.lease()));
			case SETTLE, KEEP_ALIVE, REVOKE -> !this.server.hasLease(request.lease());
			case PLACE, READ, WATCH -> true;
		};
	}

	private boolean isGone(Request request) {
		return this.server.entry(request.instance()).revision() != request.revision();
	}

	private void rename() {
		this.server.rename(this.names);
		this.instances.forEach((instance) -> instance.rename(this.names));
		this.network.replaceAll((request) -> request.renamed(this.names));
		this.highest = this.names.revision(this.highest);
		this.deletedByHand = this.names.revision(this.deletedByHand);
	}

	@Override
	public String toString() {
		return this.server + "; " + this.instances + (this.network.isEmpty() ? "" : "; late " + this.network);
	}

}
