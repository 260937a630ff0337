package io.github.lockspring.model.zookeeper;

import java.util.ArrayList;
import java.util.List;

import io.github.lockspring.model.Cells;
import io.github.lockspring.model.LimitReached;
import io.github.lockspring.model.Machine;
import io.github.lockspring.model.Step;
import io.github.lockspring.model.Violation;
import io.github.lockspring.model.zookeeper.Call.Stage;
import io.github.lockspring.model.zookeeper.Instance.Phase;
import io.github.lockspring.model.zookeeper.Request.Type;

/**
 * A state of everything: the servers, the instances, and the requests that come late. Not
 * thread-safe.
 */
final class World implements Machine<Event> {

	static final int NOBODY = -1;

	/** More late requests are not on their way at once. */
	private static final int MAX_NETWORK = 3;

	private static final int MAX_SIZE = 512;

	private static final Fault[] FAULTS = Fault.values();

	private final Scenario scenario;

	private final Server server;

	private final List<Instance> instances = new ArrayList<>();

	private List<Request> network = new ArrayList<>();

	/** How often each fault may still happen. */
	private final int[] faultsLeft = new int[FAULTS.length];

	/** The largest node that owned the lock as far as its owner knew. */
	private int highest;

	/** The node that was last deleted by hand; its owner learns it at a check. */
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

	boolean hasSession(Instance instance) {
		return this.server.hasSession(instance.session());
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
			instance.judge(this.server.hasNode(instance.zxid()));
			if (instance.isHolder() && instance.zxid() != this.deletedByHand) {
				holders++;
				Violation.check(instance.zxid() >= this.highest, "the fencing token does not grow");
				this.highest = instance.zxid();
			}
		}
		Violation.check(holders < 2, "two holders");
	}

	/** A server reports, and a client leaves a silent server, before time goes on. */
	boolean mayTick() {
		return !this.server.isReportDue() && this.instances.stream().noneMatch(Instance::isSilent);
	}

	void tick(int suspended) {
		this.server.tick();
		this.instances.forEach((instance) -> instance.tick(instance.number() == suspended));
	}

	void deleteByHand(int place) {
		this.deletedByHand = this.server.nodes().get(place).zxid();
		this.server.deleteByHand(place);
	}

	/** What was sent may be carried out until the session has moved. */
	void disconnect(Instance instance) {
		for (Call call : List.of(instance.call(), instance.check())) {
			if (call.is(Stage.SENT) && (call.request().type() == Type.ADD || call.request().type() == Type.REMOVE)) {
				this.network.add(call.request());
			}
		}
		if (this.network.size() > MAX_NETWORK) {
			throw new LimitReached();
		}
		instance.disconnect();
	}

	/**
	 * A former connection cannot hear what became of a request: no server is behind it.
	 */
	void executeLate(int index) {
		Request request = this.network.remove(index);
		this.server.executeUnseen(request);
	}

	/**
	 * The session moves to another server: the leader refuses what its former connection
	 * has sent.
	 */
	void reconnect(Instance instance) {
		this.network.removeIf((request) -> request.session() == instance.session());
		if (hasSession(instance)) {
			this.server.reconnect(instance.session());
			instance.reconnected();
		}
		else {
			instance.expired();
		}
	}

	// normal form

	private void normalise() {
		this.network.removeIf((request) -> !this.server.hasSession(request.session())
				|| (request.type() == Type.REMOVE && !this.server.hasNode(request.zxid())));
		for (Instance instance : this.instances) {
			if (!instance.is(Phase.WAITING) && !instance.is(Phase.ADDING)) {
				this.server.endWatch(instance.number());
			}
			if (instance.is(Phase.FREE) || instance.is(Phase.DEAD) || instance.session() == 0) {
				this.server.catchUp(instance.number());
			}
			if (isDone(instance)) {
				instance.forgetSession();
			}
		}
		this.names.collect();
		rename();
		this.server.forgetSessions((session) -> !this.names.knows(session));
		this.server.renameSessions(this.names);
		this.names.rename();
		rename();
		this.server.renameSessions(this.names);
	}

	/** Whether nothing of an instance can matter any more. */
	private boolean isDone(Instance instance) {
		return instance.isDone()
				&& this.server.nodes().stream().noneMatch((node) -> node.instance() == instance.number())
				&& this.network.stream().noneMatch((request) -> request.instance() == instance.number());
	}

	private void rename() {
		this.server.rename(this.names);
		this.instances.forEach((instance) -> instance.rename(this.names));
		this.network.replaceAll((request) -> request.renamed(this.names));
		this.highest = this.names.zxid(this.highest);
		this.deletedByHand = this.names.zxid(this.deletedByHand);
	}

	@Override
	public String toString() {
		return this.server + "; " + this.instances + (this.network.isEmpty() ? "" : "; late " + this.network);
	}

}
