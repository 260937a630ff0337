package io.github.lockspring.model;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntUnaryOperator;

import io.github.lockspring.model.Scenario.Fault;

/**
 * A state of everything: the store, the instances, and what is on its way. A state is
 * kept as bytes; this is its form to change it. Not thread-safe.
 */
final class World implements Machine<Event>, Environment {

	/** States with more messages in one inbox are not explored. */
	private static final int MAX_INBOX = 3;

	/** More commands are not on their way at once. */
	static final int MAX_NETWORK = 2;

	private static final int MAX_SIZE = 512;

	private static final Fault[] FAULTS = Fault.values();

	private final Scenario scenario;

	private final Store store;

	private final List<Instance> instances = new ArrayList<>();

	private List<Command> network = new ArrayList<>();

	/** How often each fault may still happen. */
	private final int[] faultsLeft = new int[FAULTS.length];

	/** The largest fencing token that was used. */
	private int highestToken;

	/** The owner whose data the store has lost. */
	private int staleOwner;

	/** The first fencing token used since then; 0: none. */
	private int firstTokenSinceLoss;

	private boolean fair;

	// used again and again, since a search makes millions of states

	private final byte[] buffer = new byte[MAX_SIZE];

	private final int[] names = new int[Byte.MAX_VALUE];

	private final boolean[] usedTokens = new boolean[Byte.MAX_VALUE];

	World(Scenario scenario) {
		this.scenario = scenario;
		this.store = new Store(scenario, this);
		for (int i = 0; i < scenario.roles().size(); i++) {
			this.instances.add(new Instance(scenario, i, this.store, this));
		}
		scenario.faults().forEach((fault, times) -> this.faultsLeft[fault.ordinal()] = times);
	}

	@Override
	public Machine<Event> fresh() {
		return new World(this.scenario);
	}

	@Override
	public void load(byte[] state) {
		pass(Cells.reader(state));
		this.store.letClockRun();
	}

	@Override
	public byte[] state() {
		Cells cells = Cells.writer(this.buffer);
		pass(cells);
		return cells.written();
	}

	private void pass(Cells cells) {
		this.store.pass(cells);
		this.instances.forEach((instance) -> instance.pass(cells));
		this.network = cells.pass(this.network, (passed, command) -> command.pass(passed), Command.NONE);
		for (int i = 0; i < this.faultsLeft.length; i++) {
			this.faultsLeft[i] = cells.pass(this.faultsLeft[i]);
		}
		this.highestToken = cells.pass(this.highestToken);
		this.staleOwner = cells.pass(this.staleOwner);
		this.firstTokenSinceLoss = cells.pass(this.firstTokenSinceLoss);
	}

	Scenario scenario() {
		return this.scenario;
	}

	Store store() {
		return this.store;
	}

	List<Instance> instances() {
		return this.instances;
	}

	Instance instance(int number) {
		return this.instances.get(number);
	}

	List<Command> network() {
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
				Step<Event> step = new Step<>(event, i);
				if (event.isPossible(this, i)) {
					steps.add(step);
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
		check();
		normalise();
	}

	@Override
	public void setFair() {
		this.fair = true;
	}

	@Override
	public String describe(Step<Event> step) {
		return step.event().scope().describe(this, step.index()) + step.event().text();
	}

	private void check() {
		int holders = 0;
		for (Instance instance : this.instances) {
			if (instance.isHolder() && instance.token() != this.staleOwner) {
				holders++;
			}
		}
		Violation.check(holders < 2, "two valid holders");
		Violation.check(holders == 0 || this.store.owner() != Tokens.PLAIN_CLIENT,
				"an instance holds the lock beside a plain client");
	}

	@Override
	public void useFencingToken(int owner, int token) {
		if (owner == this.staleOwner) {
			Violation.check(this.firstTokenSinceLoss == 0 || token < this.firstTokenSinceLoss,
					"a holder from before the loss of data uses a token as large as a later one");
			this.highestToken = Math.max(this.highestToken, token);
			return;
		}
		Violation.check(token > this.highestToken, "the fencing token does not grow");
		this.highestToken = token;
		if (this.staleOwner != Tokens.NONE && this.firstTokenSinceLoss == 0) {
			this.firstTokenSinceLoss = token;
		}
	}

	// what the parts do to each other

	@Override
	public void publish(Message message) {
		Instance receiver = this.instances.get(Tokens.instance(message.token()));
		receiver.deliver(message);
		if (receiver.hasMessage(MAX_INBOX)) {
			throw new LimitReached();
		}
	}

	@Override
	public boolean isSubscribed(int token) {
		return this.instances.get(Tokens.instance(token)).isSubscribed();
	}

	@Override
	public void send(Command command) {
		this.network.add(command);
	}

	boolean hasRoomInNetwork() {
		return this.network.size() < MAX_NETWORK;
	}

	@Override
	public boolean isReleasing(int token) {
		return this.scenario.has(Rule.RELEASES_ARE_REGISTERED)
				&& this.network.stream().anyMatch((command) -> command.isRelease() && command.token() == token);
	}

	/** A command is executed, and the result of an attempt arrives late. */
	void execute(Command command) {
		if (command.isRelease()) {
			release(command, false);
			return;
		}
		boolean queue = command.kind() == Command.Kind.ACQUIRE_QUEUED;
		Result result = this.store.acquire(command.token(), queue);
		if (queue || result.acquired()) {
			this.instance(Tokens.instance(command.token())).lateResult(command.token());
		}
	}

	void executeWithoutResult(Command acquire) {
		this.store.acquire(acquire.token(), acquire.kind() == Command.Kind.ACQUIRE_QUEUED);
	}

	/**
	 * @param miscount whether {@code PUBLISH} counts no subscriber of the first waiter,
	 * although it has one
	 */
	void release(Command command, boolean miscount) {
		this.store.release(command.token(), command.lastFencingToken(), miscount);
	}

	@Override
	public void acquired(int token) {
		if (token == this.staleOwner && !this.instance(Tokens.instance(token)).isHolder()) {
			this.staleOwner = Tokens.NONE;
			this.firstTokenSinceLoss = 0;
		}
	}

	void loseData() {
		this.staleOwner = this.store.owner();
		this.store.loseData();
	}

	void tick() {
		this.store.tick();
		this.instances.forEach((instance) -> instance.tick(this.fair));
	}

	// normal form

	private void normalise() {
		this.instances.forEach(Instance::normalise);
		if (this.scenario.hasAllOf(Rule.OWN_TOKEN, Rule.RELEASE_COMPARES_OWNER, Rule.GRANT_OF_THIS_TOKEN)) {
			forgetWhatChangesNothing();
		}
		if (this.scenario.has(Rule.OWN_TOKEN)) {
			renameTokens();
		}
		compressFencingTokens();
	}

	/**
	 * Drops commands and messages about a token that its instance does not know any more
	 * and the store will not see again: they have no effect.
	 */
	private void forgetWhatChangesNothing() {
		this.network.removeIf((command) -> command.isRelease() && isGone(command.token()));
		this.instances.forEach((instance) -> instance.forgetWhatChangesNothing(this));
	}

	@Override
	public boolean isGone(int token) {
		if (this.store.has(token) || this.instance(Tokens.instance(token)).token() == token) {
			return false;
		}
		return this.network.stream().allMatch((command) -> command.isRelease() || command.token() != token);
	}

	/** Numbers the owner tokens of each instance in the order in which they are found. */
	private void renameTokens() {
		int[] names = this.names;
		Arrays.fill(names, 0);
		int[] numbers = new int[this.instances.size()];
		mapTokens((token) -> {
			if (Tokens.isOurs(token) && names[token] == 0) {
				int instance = Tokens.instance(token);
				names[token] = Tokens.of(instance, ++numbers[instance], Tokens.isShort(token));
			}
			return Tokens.isOurs(token) ? names[token] : token;
		});
	}

	private void mapTokens(IntUnaryOperator rename) {
		for (Instance instance : this.instances) {
			instance.mapTokens(rename);
		}
		this.store.mapTokens(rename);
		for (int i = 0; i < this.network.size(); i++) {
			Command command = this.network.get(i);
			this.network.set(i, command.withToken(rename.applyAsInt(command.token())));
		}
		this.staleOwner = rename.applyAsInt(this.staleOwner);
	}

	/**
	 * Keeps the order of the fencing tokens and of the clock, and of their distances only
	 * whether hand-offs can bridge them.
	 */
	private void compressFencingTokens() {
		int[] compressed = this.names;
		boolean[] used = this.usedTokens;
		Arrays.fill(used, false);
		mapFencingTokens((token) -> {
			used[token] = true;
			return token;
		});
		int last = 0;
		int to = 0;
		for (int token = 1; token < used.length; token++) {
			if (used[token]) {
				to += Math.min(token - last, this.scenario.handoffs() + 1);
				last = token;
				compressed[token] = to;
			}
		}
		mapFencingTokens((token) -> compressed[token]);
	}

	private void mapFencingTokens(IntUnaryOperator rename) {
		for (Instance instance : this.instances) {
			instance.mapFencingTokens(rename);
		}
		this.store.mapFencingTokens(rename);
		for (int i = 0; i < this.network.size(); i++) {
			Command command = this.network.get(i);
			this.network.set(i, command.withLastFencingToken(rename.applyAsInt(command.lastFencingToken())));
		}
		this.highestToken = rename.applyAsInt(this.highestToken);
		this.firstTokenSinceLoss = rename.applyAsInt(this.firstTokenSinceLoss);
	}

	@Override
	public String toString() {
		return this.store.toString();
	}

}
