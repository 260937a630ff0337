package io.github.lockspring.model;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntUnaryOperator;

import io.github.lockspring.model.Scenario.Option;

/**
 * One instance and its ownership, as in the engine: times are counted from now, backwards
 * ({@code …Age}) or forwards ({@code …Left}), so that none grows without end.
 */
final class Instance {

	/**
	 * What the instance does with the lock.
	 */
	enum Phase {

		/** It does not want the lock. */
		FREE,
		/** An acquire command was sent and not executed yet. */
		ASKING,
		/** It was executed, and its result is on its way. */
		ANSWERED,
		/** The last attempt found the lock busy. */
		WAITING,
		/**
		 * The last attempt has no usable result; it may have been executed, or may yet
		 * be.
		 */
		RETRYING,
		/** A caller holds the lock. */
		HELD,
		/** The instance has crashed. */
		DEAD

	}

	/** What is older than a lease is simply old. */
	private static final int OLD = Scenario.TTL;

	private static final Phase[] PHASES = Phase.values();

	private final Store store;

	private final Environment environment;

	private final Scenario scenario;

	private final int number;

	private final Role role;

	private Phase phase = Phase.FREE;

	private int token;

	private int ownerships;

	// attempts

	/** Of the last attempt, or the one that is under way. */
	private int sentAge;

	/** Whether the next attempt follows at once. */
	private boolean attemptNow;

	private Result result = Result.NONE;

	/** What the last attempt that found the lock busy has seen. */
	private int lastFencingToken;

	// ownership

	private int deadlineLeft;

	private int fencingToken;

	private int handoffs;

	private boolean othersWait;

	/** Whether the caller has worked for a tick; in a fair run only. */
	private boolean worked;

	private Renewal renewal = Renewal.NONE;

	// messages

	/** Whether the server has its subscription. */
	private boolean subscribed;

	/** Whether the instance believes so. */
	private boolean confirmed;

	private List<Message> inbox = new ArrayList<>();

	Instance(Scenario scenario, int number, Store store, Environment environment) {
		this.scenario = scenario;
		this.store = store;
		this.environment = environment;
		this.number = number;
		this.role = this.scenario.roles().get(number);
		this.subscribed = this.role.hasInbox();
		this.confirmed = this.subscribed;
	}

	void pass(Cells cells) {
		this.phase = cells.pass(this.phase, PHASES);
		this.token = cells.pass(this.token);
		this.ownerships = cells.pass(this.ownerships);
		this.sentAge = cells.pass(this.sentAge);
		this.attemptNow = cells.pass(this.attemptNow);
		this.result = this.result.pass(cells);
		this.lastFencingToken = cells.pass(this.lastFencingToken);
		this.deadlineLeft = cells.pass(this.deadlineLeft);
		this.fencingToken = cells.pass(this.fencingToken);
		this.handoffs = cells.pass(this.handoffs);
		this.othersWait = cells.pass(this.othersWait);
		this.worked = cells.pass(this.worked);
		this.renewal = this.renewal.pass(cells);
		this.subscribed = cells.pass(this.subscribed);
		this.confirmed = cells.pass(this.confirmed);
		this.inbox = cells.pass(this.inbox, (passed, message) -> message.pass(passed), Message.NONE);
	}

	void mapTokens(IntUnaryOperator rename) {
		this.token = rename.applyAsInt(this.token);
		this.renewal = this.renewal.withToken(rename.applyAsInt(this.renewal.token()));
		for (int i = 0; i < this.inbox.size(); i++) {
			Message message = this.inbox.get(i);
			this.inbox.set(i, message.withToken(rename.applyAsInt(message.token())));
		}
	}

	void mapFencingTokens(IntUnaryOperator rename) {
		this.result = new Result(this.result.acquired(), rename.applyAsInt(this.result.fencingToken()));
		this.lastFencingToken = rename.applyAsInt(this.lastFencingToken);
		this.fencingToken = rename.applyAsInt(this.fencingToken);
		for (int i = 0; i < this.inbox.size(); i++) {
			Message message = this.inbox.get(i);
			this.inbox.set(i, message.withFencingToken(rename.applyAsInt(message.fencingToken())));
		}
	}

	/** Forgets what no later step depends on. */
	void normalise() {
		if (this.phase == Phase.HELD) {
			this.sentAge = 0;
			this.lastFencingToken = 0;
			this.attemptNow = false;
		}
		if (this.scenario.maxIdle() < 0) {
			this.attemptNow = false;
		}
		if (this.phase == Phase.WAITING) {
			this.sentAge = Math.min(this.sentAge, grantTtl());
		}
		if (!this.scenario.hasAllOf(Rule.GRANT_NEEDS_RESULT, Rule.GRANT_COUNTS_FROM_ATTEMPT)) {
			return;
		}
		if (this.phase != Phase.WAITING || this.sentAge >= grantTtl()) {
			// no grant can be used
			this.lastFencingToken = 0;
		}
		if (this.phase == Phase.RETRYING) {
			this.sentAge = (this.scenario.maxIdle() < 0) ? 0 : Math.min(this.sentAge, Scenario.RETRY_INTERVAL);
		}
	}

	/** Drops messages and a renewal about a token that is gone. */
	void forgetWhatChangesNothing(Environment present) {
		if (!this.inbox.isEmpty()) {
			this.inbox.removeIf((message) -> present.isGone(message.token()));
		}
		if (this.renewal.state() != Renewal.State.NONE && this.renewal.token() != this.token
				&& (this.renewal.state() == Renewal.State.EXECUTED || present.isGone(this.renewal.token()))) {
			this.renewal = Renewal.NONE;
		}
	}

	// questions

	Phase phase() {
		return this.phase;
	}

	Role role() {
		return this.role;
	}

	boolean isAlive() {
		return this.phase != Phase.DEAD;
	}

	private boolean asks() {
		return this.phase == Phase.ASKING || this.phase == Phase.ANSWERED;
	}

	boolean waits() {
		return this.phase == Phase.WAITING || this.phase == Phase.RETRYING;
	}

	boolean isSubscribed() {
		return this.subscribed;
	}

	boolean isConfirmed() {
		return this.confirmed;
	}

	boolean isHolder() {
		return this.phase == Phase.HELD && this.deadlineLeft > 0;
	}

	int token() {
		return this.token;
	}

	boolean mayBegin() {
		return this.phase == Phase.FREE
				&& (this.scenario.ownerships() == 0 || this.ownerships < this.scenario.ownerships());
	}

	boolean hasMessage(int index) {
		return isAlive() && this.inbox.size() > index;
	}

	Message message(int index) {
		return this.inbox.get(index);
	}

	boolean isLeaseOver() {
		return this.phase == Phase.HELD && this.deadlineLeft == 0;
	}

	boolean mayRenew() {
		return isHolder() && this.renewal.state() == Renewal.State.NONE && this.scenario.has(Option.RENEWALS);
	}

	Renewal renewal() {
		return this.renewal;
	}

	boolean mayHandOff() {
		return this.phase == Phase.HELD && this.handoffs < this.scenario.handoffs()
				&& (this.deadlineLeft > 0 || !this.scenario.has(Rule.HAND_OFF_CHECKS_DEADLINE));
	}

	// attempts

	/** A caller wants the lock. */
	void begin() {
		this.ownerships = Math.min(this.ownerships + 1, this.scenario.ownerships());
		ask(false);
	}

	private void ask(boolean shortGrant) {
		this.token = this.scenario.has(Rule.OWN_TOKEN) ? Tokens.newest(this.number, shortGrant)
				: Tokens.of(this.number, 1, shortGrant);
		attempt();
	}

	void attempt() {
		this.phase = Phase.ASKING;
		this.sentAge = 0;
		this.attemptNow = false;
	}

	boolean mayAskWithShortGrant() {
		return this.phase == Phase.WAITING && !this.confirmed && !Tokens.isShort(this.token)
				&& this.scenario.has(Rule.SHORT_GRANT);
	}

	/** No message reaches it: it takes its place in the queue with another token. */
	void askWithShortGrant() {
		boolean contended = this.othersWait;
		release();
		this.othersWait = contended;
		ask(true);
	}

	/** The acquire script runs. */
	void attemptExecuted() {
		this.result = this.store.acquire(this.token, mayQueue());
		this.phase = Phase.ANSWERED;
	}

	private boolean mayQueue() {
		return this.role != Role.TRIES && this.scenario.has(Rule.QUEUE)
				&& (this.confirmed || Tokens.isShort(this.token));
	}

	/** The command of this attempt, on its way once more, or later. */
	Command attemptCommand() {
		return Command.acquire(this.token, mayQueue());
	}

	void resultReceived() {
		Result received = this.result;
		this.result = Result.NONE;
		if (received.acquired()) {
			acquired(received.fencingToken());
		}
		else if (this.role == Role.TRIES) {
			// never queued, and certainly not the owner
			forget();
		}
		else {
			this.phase = Phase.WAITING;
			this.lastFencingToken = received.fencingToken();
		}
	}

	private void acquired(int received) {
		this.store.setLease(this.token);
		int left = this.scenario.has(Rule.COUNTS_FROM_SENDING) ? Scenario.TTL - this.sentAge : Scenario.TTL;
		if (left > 0 || !this.scenario.has(Rule.LATE_RESULT)) {
			hold(received, left);
		}
		else {
			attemptFailed();
		}
	}

	/** The attempt timed out, or its result was lost, or is of no use any more. */
	void attemptFailed() {
		this.result = Result.NONE;
		this.phase = Phase.RETRYING;
		if (this.role == Role.TRIES) {
			release();
		}
	}

	/** An attempt that was given up was executed, and may have left its token. */
	void lateResult(int about) {
		if (isAlive() && about != this.token && this.scenario.has(Rule.LATE_RESULT_IS_RELEASED)) {
			this.environment.send(Command.release(about, 0));
		}
	}

	// messages

	/**
	 * A message arrives in the inbox, unless the same message is there already, which
	 * would have no other effect.
	 */
	void deliver(Message message) {
		if (this.subscribed && isAlive() && !this.inbox.contains(message)) {
			this.inbox.add(message);
		}
	}

	Message removeMessage(int index) {
		return this.inbox.remove(index);
	}

	void receive(Message message) {
		boolean ours = message.token() == this.token;
		boolean usable = ours || (message.kind() == Message.Kind.GRANTED && !this.scenario.has(Rule.GRANT_OF_THIS_TOKEN)
				&& this.phase == Phase.WAITING);
		if (usable) {
			about(message);
		}
		else if (!this.environment.isReleasing(message.token()) && this.scenario.has(Rule.ORPHANS_ARE_RELEASED)) {
			this.environment.send(Command.release(message.token(), 0));
		}
	}

	private void about(Message message) {
		if (this.phase == Phase.HELD) {
			this.othersWait |= message.kind() == Message.Kind.WANTED;
			if (!this.scenario.has(Rule.KNOWN_TOKENS_ARE_NOT_RELEASED)) {
				this.environment.send(Command.release(message.token(), 0));
			}
			return;
		}
		this.othersWait |= message.kind() == Message.Kind.WANTED || message.othersWait();
		if (message.kind() == Message.Kind.GRANTED && isUsable(message.fencingToken())) {
			this.result = Result.NONE;
			hold(message.fencingToken(), grantLeft());
		}
		else {
			this.attemptNow = true;
		}
	}

	private int grantTtl() {
		return this.scenario.has(Rule.GRANT_TTL) ? Scenario.GRANT_TTL : Scenario.TTL;
	}

	private int grantLeft() {
		return this.scenario.has(Rule.GRANT_COUNTS_FROM_ATTEMPT) ? grantTtl() - this.sentAge : grantTtl();
	}

	/** Whether a grant is certainly younger than an attempt that found the lock busy. */
	private boolean isUsable(int grant) {
		return (this.phase == Phase.WAITING || !this.scenario.has(Rule.GRANT_NEEDS_RESULT)) && grantLeft() > 0
				&& (grant > this.lastFencingToken || !this.scenario.has(Rule.GRANT_IS_NEW));
	}

	/** The subscription has gone, and the instance does not know it. */
	void unsubscribe() {
		this.subscribed = false;
	}

	void noticeThatUnsubscribed() {
		this.confirmed = false;
	}

	void subscribe() {
		this.subscribed = true;
		this.confirmed = true;
		this.attemptNow |= asks() || waits();
	}

	// ownership

	private void hold(int given, int left) {
		this.phase = Phase.HELD;
		this.deadlineLeft = left;
		this.fencingToken = given;
		startWork();
	}

	private void startWork() {
		Violation.check(this.deadlineLeft > 0, "work starts on a lease that is over");
		this.worked = false;
		this.environment.useFencingToken(this.token, this.fencingToken);
	}

	/** The next local caller gets the lock. */
	void handOff() {
		this.handoffs++;
		this.fencingToken++;
		startWork();
	}

	/** What it has or may have in the store is released, and it knows it no more. */
	void release() {
		// the store cannot know the tokens that hand-offs have used
		this.environment.send(Command.release(this.token, (this.handoffs > 0) ? this.fencingToken : 0));
		forget();
	}

	void forget() {
		this.phase = Phase.FREE;
		this.token = Tokens.NONE;
		this.attemptNow = false;
		this.result = Result.NONE;
		this.lastFencingToken = 0;
		this.deadlineLeft = 0;
		this.fencingToken = 0;
		this.handoffs = 0;
		this.othersWait = false;
		this.worked = false;
		// of an instance whose callers do not wait, when it tried last
		this.sentAge = (this.role == Role.TRIES && this.scenario.maxIdle() >= 0)
				? Math.min(this.sentAge, Scenario.RETRY_INTERVAL) : 0;
	}

	// renewals

	void sendRenewal(int ttl) {
		this.renewal = new Renewal(Renewal.State.SENT, this.token, 0, ttl, false);
	}

	void renewalExecuted() {
		boolean renewed = this.store.renew(this.renewal.token(), this.renewal.ttl());
		this.renewal = this.renewal.executed(renewed);
	}

	void renewalResult() {
		Renewal ended = this.renewal;
		this.renewal = Renewal.NONE;
		if (this.phase != Phase.HELD || ended.token() != this.token) {
			return;
		}
		if (!ended.renewed()) {
			release();
		}
		else if (this.deadlineLeft > 0 || !this.scenario.has(Rule.DEADLINE_IS_FINAL)) {
			this.deadlineLeft = Math.max(this.deadlineLeft, ended.ttl() - ended.sentAge());
		}
	}

	// what happens to it

	void tick(boolean fair) {
		if (this.phase != Phase.FREE || this.role == Role.TRIES) {
			this.sentAge = Math.min(this.sentAge + 1, OLD);
		}
		this.deadlineLeft = Math.max(this.deadlineLeft - 1, 0);
		this.renewal = this.renewal.older(OLD);
		this.worked = fair && this.phase == Phase.HELD;
	}

	/** Dies; the server believes for some time that it is still subscribed. */
	void crash() {
		forget();
		this.phase = Phase.DEAD;
		this.inbox.clear();
		this.renewal = Renewal.NONE;
		this.confirmed = false;
		this.sentAge = 0;
		this.ownerships = 0;
	}

	// what it does when nothing goes wrong any more

	boolean isAttemptDue() {
		boolean retries = this.scenario.has(Rule.RETRY) || this.phase == Phase.RETRYING;
		// the interval of a token is shorter than the lease that it is given
		boolean found = Tokens.isShort(this.token) && this.store.owner() == this.token;
		return found || this.attemptNow || (retries && this.sentAge >= Scenario.RETRY_INTERVAL);
	}

	boolean isNextTryDue() {
		return this.phase == Phase.FREE && this.role == Role.TRIES && this.sentAge >= Scenario.RETRY_INTERVAL;
	}

	boolean isWorkDone() {
		return isHolder() && this.worked;
	}

	/** Whether it hands the lock to a local caller instead of releasing it. */
	boolean wantsToHandOff() {
		boolean contended = this.othersWait || (!this.confirmed && this.scenario.has(Rule.NO_INBOX_ASSUMES_OTHERS));
		return this.role.isBusy() && mayHandOff() && !(contended && this.scenario.has(Rule.HAND_OFF_IS_BOUNDED));
	}

	boolean needsRenewal() {
		return mayRenew() && this.deadlineLeft * 2 <= Scenario.TTL;
	}

	@Override
	public String toString() {
		return Tokens.instanceName(this.number);
	}

}
