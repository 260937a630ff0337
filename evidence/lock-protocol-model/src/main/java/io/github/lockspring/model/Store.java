package io.github.lockspring.model;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntUnaryOperator;

import io.github.lockspring.model.Scenario.Option;

/**
 * The lock in Redis, and the scripts: each method is one script, which is one step.
 */
final class Store {

	/** A lease without an end. */
	static final int FOREVER = -1;

	private static final int MAX_QUEUE = 8;

	/** How many tokens are reserved if {@link Rule#ONE_BY_ONE} is off. */
	private static final int BLOCK = 5;

	private final Environment environment;

	private final Scenario scenario;

	private int owner;

	private int leaseLeft;

	/** Whether the owner got the lock by a hand-over, and may not know it yet. */
	private boolean granted;

	private List<QueueMember> queue = new ArrayList<>();

	/** The last fencing token that the store knows; 0: none. */
	private int lastFencingToken;

	private int clock;

	/** Set before a script during which the clock does not advance. */
	private boolean clockStands;

	Store(Scenario scenario, Environment environment) {
		this.scenario = scenario;
		this.environment = environment;
	}

	void pass(Cells cells) {
		this.owner = cells.pass(this.owner);
		this.leaseLeft = cells.pass(this.leaseLeft);
		this.granted = cells.pass(this.granted);
		this.lastFencingToken = cells.pass(this.lastFencingToken);
		this.clock = cells.pass(this.clock);
		this.queue = cells.pass(this.queue, (passed, member) -> member.pass(passed), QueueMember.NONE);
	}

	void mapTokens(IntUnaryOperator rename) {
		this.owner = rename.applyAsInt(this.owner);
		for (int i = 0; i < this.queue.size(); i++) {
			QueueMember member = this.queue.get(i);
			this.queue.set(i, member.withToken(rename.applyAsInt(member.token())));
		}
	}

	void mapFencingTokens(IntUnaryOperator rename) {
		this.lastFencingToken = rename.applyAsInt(this.lastFencingToken);
		this.clock = rename.applyAsInt(this.clock);
	}

	int owner() {
		return this.owner;
	}

	boolean hasWaiters() {
		return !this.queue.isEmpty();
	}

	/** Whether a token owns the lock or is queued. */
	boolean has(int token) {
		return this.owner == token || isQueued(token);
	}

	boolean isGranted() {
		return this.granted;
	}

	boolean isFree() {
		return this.owner == Tokens.NONE;
	}

	// the scripts

	/**
	 * Acquires the lock for a token.
	 * @param queue whether the token joins the queue if the lock is busy
	 */
	Result acquire(int token, boolean queue) {
		readClock();
		boolean own = this.owner == token && this.scenario.has(Rule.OWN_LOCK_IS_ACQUIRED);
		if (isFree() || own) {
			boolean free = isFree();
			this.owner = token;
			this.granted = false;
			this.environment.acquired(token);
			this.leaseLeft = free ? Scenario.TTL : longer(this.leaseLeft, Scenario.TTL);
			if (!this.scenario.has(Rule.ONE_COMMAND) && free) {
				this.leaseLeft = FOREVER;
			}
			leaveQueue(token);
			return Result.acquired(nextFencingToken());
		}
		if (queue) {
			enqueue(token);
		}
		return Result.busy(Math.max(this.lastFencingToken, this.clock - 1));
	}

	/** Whoever is alone in the queue, or finds its token there, says that it waits. */
	private void enqueue(int token) {
		boolean later = isQueued(token);
		if (!later) {
			join(token);
		}
		boolean announce = later ? this.scenario.has(Rule.WANTED_REPEATED) : this.queue.size() == 1;
		if (announce && this.scenario.has(Rule.WANTED) && Tokens.isOurs(this.owner)) {
			this.environment.publish(Message.wanted(this.owner));
		}
	}

	private boolean isQueued(int token) {
		return this.queue.stream().anyMatch((member) -> member.token() == token);
	}

	private void join(int token) {
		Violation.check(this.queue.size() < MAX_QUEUE, "the queue grows without end");
		boolean later = Tokens.isShort(token);
		int position = this.queue.size();
		while (!later && position > 0 && this.queue.get(position - 1).later()) {
			position--;
		}
		this.queue.add(position, new QueueMember(token, later));
	}

	private void leaveQueue(int token) {
		this.queue.removeIf((member) -> member.token() == token);
	}

	/**
	 * Releases the lock, hands it over, or leaves the queue.
	 * @param miscount whether {@code PUBLISH} counts no subscriber of the first waiter,
	 * although it has one
	 */
	void release(int token, int lastUsed, boolean miscount) {
		leaveQueue(token);
		if (this.owner != token && this.scenario.has(Rule.RELEASE_COMPARES_OWNER)) {
			return;
		}
		if (this.scenario.has(Rule.LAST_TOKEN_REPORTED)) {
			this.lastFencingToken = Math.max(this.lastFencingToken, lastUsed);
		}
		free();
		boolean skip = miscount;
		while (isFree() && !this.queue.isEmpty() && this.scenario.has(Rule.HAND_OVER)) {
			QueueMember next = this.queue.remove(0);
			if (skip) {
				this.environment.publish(new Message(Message.Kind.GRANTED, next.token(),
						this.lastFencingToken + this.scenario.clockStep(), false));
				skip = false;
			}
			else if (mayReceive(next.token())) {
				handOver(next.token());
			}
		}
	}

	private boolean mayReceive(int token) {
		boolean found = Tokens.isShort(token) && this.scenario.has(Rule.SHORT_GRANT_IS_FOUND);
		return found || !this.scenario.has(Option.EXACT_COUNT) || this.environment.isSubscribed(token);
	}

	private void handOver(int token) {
		readClock();
		this.owner = token;
		this.granted = true;
		this.environment.acquired(token);
		this.leaseLeft = this.scenario.has(Rule.GRANT_TTL) ? Scenario.GRANT_TTL : Scenario.TTL;
		this.environment.publish(new Message(Message.Kind.GRANTED, token, nextFencingToken(), !this.queue.isEmpty()));
	}

	/**
	 * Renews the lease of a token.
	 * @return whether the token owns the lock
	 */
	boolean renew(int token, int ttl) {
		if (this.owner != token && (isFree() || this.scenario.has(Rule.RENEWAL_COMPARES_OWNER))) {
			return false;
		}
		Violation.check(this.owner == token, "a renewal extends the lease of another owner");
		this.leaseLeft = longer(this.leaseLeft, ttl);
		return true;
	}

	private int longer(int present, int requested) {
		if (!this.scenario.has(Rule.NEVER_SHORTENED)) {
			return requested;
		}
		return (present == FOREVER) ? FOREVER : Math.max(present, requested);
	}

	/** The second command of an acquisition, if {@link Rule#ONE_COMMAND} is off. */
	void setLease(int token) {
		if (this.owner == token && this.leaseLeft == FOREVER) {
			this.leaseLeft = Scenario.TTL;
		}
	}

	// fencing tokens

	private void readClock() {
		if (!this.clockStands) {
			this.clock = Math.max(this.clock, 0) + this.scenario.clockStep();
		}
	}

	private int nextFencingToken() {
		int next = this.lastFencingToken + 1;
		if (this.scenario.has(Rule.TOKEN_FROM_TIME)) {
			next = Math.max(next, this.clock);
		}
		this.lastFencingToken = this.scenario.has(Rule.ONE_BY_ONE) ? next : next + BLOCK;
		return next;
	}

	/** Another lock, whose fencing tokens come from the same last one. */
	void acquireOtherLock() {
		readClock();
		nextFencingToken();
	}

	void letClockRun() {
		this.clockStands = false;
	}

	void letClockStand() {
		this.clockStands = true;
	}

	// what happens to it

	void tick() {
		this.queue.replaceAll(QueueMember::afterTick);
		if (this.leaseLeft > 0) {
			this.leaseLeft--;
			if (this.leaseLeft == 0) {
				free();
				// the clock goes back no further than the lease has lasted
				this.clock = Math.max(this.clock, this.lastFencingToken) + this.scenario.clockStep();
			}
		}
	}

	private void free() {
		this.owner = Tokens.NONE;
		this.granted = false;
		this.leaseLeft = 0;
	}

	void loseData() {
		free();
		this.queue.clear();
		this.lastFencingToken = 0;
	}

	void takeByPlainClient() {
		this.owner = Tokens.PLAIN_CLIENT;
		this.leaseLeft = Scenario.TTL;
	}

	void deleteByPlainClient() {
		free();
	}

	@Override
	public String toString() {
		String left = (this.leaseLeft == FOREVER) ? "for ever" : "for " + this.leaseLeft;
		return (isFree() ? "free" : Tokens.name(this.owner) + " " + left)
				+ (this.queue.isEmpty() ? "" : ", queue " + this.queue);
	}

}
