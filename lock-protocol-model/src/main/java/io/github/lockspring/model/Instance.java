package io.github.lockspring.model;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntUnaryOperator;

import io.github.lockspring.model.Command.QueueMode;
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
		IDLE,
		/** An acquire command was sent and not executed yet. */
		REQUESTED,
		/** It was executed, and its result is on its way. */
		REPLIED,
		/** Another owner has the lock, or it is not known which. */
		WAITING,
		/** A caller holds the lock. */
		HELD,
		/** The caller is done, and the release was sent and not executed yet. */
		RELEASING,
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

	private Phase phase = Phase.IDLE;

	private int token;

	private int ownerships;

	// attempts

	private int sentAge;

	/** Whether the token may be in the queue. */
	private boolean queued;

	/** Whether an attempt found the lock busy while messages did not arrive. */
	private boolean mayPoll;

	private boolean polls;

	/** Whether an attempt without a result may have been executed, or may yet be. */
	private boolean unanswered;

	private boolean attemptNow;

	private Result result = Result.NONE;

	/** Whether an attempt found the lock busy; the next two are of the last such one. */
	private boolean foundBusy;

	private int busySentAge;

	private int lastFencingToken;

	/** The grant that waits for a result; its fencing token, or 0. */
	private int pendingGrant;

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
		this.queued = cells.pass(this.queued);
		this.mayPoll = cells.pass(this.mayPoll);
		this.polls = cells.pass(this.polls);
		this.unanswered = cells.pass(this.unanswered);
		this.attemptNow = cells.pass(this.attemptNow);
		this.result = this.result.pass(cells);
		this.foundBusy = cells.pass(this.foundBusy);
		this.busySentAge = cells.pass(this.busySentAge);
		this.lastFencingToken = cells.pass(this.lastFencingToken);
		this.pendingGrant = cells.pass(this.pendingGrant);
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
		this.pendingGrant = rename.applyAsInt(this.pendingGrant);
		this.fencingToken = rename.applyAsInt(this.fencingToken);
		for (int i = 0; i < this.inbox.size(); i++) {
			Message message = this.inbox.get(i);
			this.inbox.set(i, message.withFencingToken(rename.applyAsInt(message.fencingToken())));
		}
	}

	/** Forgets what no later step depends on. */
	void normalise() {
		if (this.phase == Phase.HELD || this.phase == Phase.RELEASING) {
			this.sentAge = 0;
			this.foundBusy = false;
			this.queued = false;
			this.mayPoll = false;
			this.polls = false;
			this.unanswered = false;
			this.attemptNow = false;
		}
		if (this.foundBusy && this.busySentAge >= grantTtl()
				&& this.scenario.hasAllOf(Rule.RETRY, Rule.GRANT_COUNTS_FROM_ATTEMPT, Rule.GRANT_WAITS_FOR_RESULT)) {
			// no grant can be used any more
			this.foundBusy = false;
		}
		if (!this.foundBusy) {
			this.busySentAge = 0;
			this.lastFencingToken = 0;
		}
		if (this.scenario.maxIdle() < 0) {
			this.attemptNow = false;
		}
		if (this.phase == Phase.WAITING) {
			this.sentAge = Math.min(this.sentAge, (this.scenario.maxIdle() < 0) ? 0 : Scenario.RETRY_INTERVAL);
		}
		if (this.phase == Phase.RELEASING) {
			this.deadlineLeft = 0;
			this.othersWait = false;
		}
	}

	/** Drops messages and a renewal about a token that is gone. */
	void forgetWhatChangesNothing(Environment present) {
		if (!this.inbox.isEmpty()) {
			this.inbox.removeIf(
					(message) -> present.isGone(message.token()) && !present.isKnownInBackground(message.token()));
		}
		if (this.renewal.state() != Renewal.State.NONE && this.renewal.token() != this.token
				&& (this.renewal.state() == Renewal.State.EXECUTED || present.isGone(this.renewal.token()))) {
			this.renewal = Renewal.NONE;
		}
	}

	boolean hasMessageAbout(int about) {
		for (Message message : this.inbox) {
			if (message.token() == about) {
				return true;
			}
		}
		return false;
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
		return this.phase == Phase.IDLE
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
		this.token = this.scenario.has(Rule.OWN_TOKEN) ? Tokens.newest(this.number) : Tokens.of(this.number, 1);
		this.ownerships = Math.min(this.ownerships + 1, this.scenario.ownerships());
		// an instance that messages do not reach
		this.othersWait = !this.confirmed && this.scenario.has(Rule.NO_INBOX_ASSUMES_OTHERS);
		attempt();
	}

	void attempt() {
		this.phase = Phase.REQUESTED;
		this.polls |= !this.confirmed && this.mayPoll && this.scenario.has(Rule.POLLERS_QUEUE);
		this.sentAge = 0;
		this.attemptNow = false;
		if (!this.scenario.has(Rule.GRANT_WAITS_FOR_RESULT)) {
			this.busySentAge = 0;
		}
	}

	/** The acquire script runs. */
	void attemptExecuted() {
		this.result = this.store.acquire(this.token, queueMode());
		this.queued |= queueMode() != QueueMode.NONE;
		this.phase = Phase.REPLIED;
	}

	private QueueMode queueMode() {
		if (this.role == Role.TRIES || !this.scenario.has(Rule.QUEUE)) {
			return QueueMode.NONE;
		}
		if (this.polls) {
			return QueueMode.POLL;
		}
		if (!this.confirmed) {
			return QueueMode.NONE;
		}
		return this.queued ? QueueMode.REJOIN : QueueMode.JOIN;
	}

	/** The command of this attempt, on its way once more, or later. */
	Command attemptCommand() {
		return new Command((queueMode() != QueueMode.NONE) ? Command.Kind.ACQUIRE : Command.Kind.ACQUIRE_ONCE,
				this.token, 0, false);
	}

	void resultReceived() {
		Result received = this.result;
		this.result = Result.NONE;
		this.phase = Phase.WAITING;
		if (received.acquired()) {
			acquired(received.fencingToken());
		}
		else {
			busy(received.fencingToken());
		}
	}

	private void acquired(int received) {
		this.pendingGrant = 0;
		this.store.setLease(this.token);
		int left = this.scenario.has(Rule.COUNTS_FROM_SENDING) ? Scenario.TTL - this.sentAge : Scenario.TTL;
		if (left > 0 || !this.scenario.has(Rule.LATE_RESULT)) {
			hold(received, left);
			return;
		}
		this.attemptNow = true;
		if (this.role == Role.TRIES) {
			giveUp();
		}
	}

	private void busy(int last) {
		this.foundBusy = true;
		this.mayPoll |= !this.confirmed;
		this.busySentAge = this.sentAge;
		this.lastFencingToken = last;
		if (this.role != Role.TRIES) {
			considerPendingGrant();
		}
		else if (this.unanswered) {
			giveUp();
		}
		else {
			// never queued, and certainly not the owner
			forget();
		}
	}

	/** The attempt timed out, or its result was lost. */
	void attemptFailed() {
		this.result = Result.NONE;
		this.phase = Phase.WAITING;
		this.unanswered = true;
		if (this.role == Role.TRIES) {
			giveUp();
		}
		else {
			considerPendingGrant();
		}
	}

	/** The last caller goes away: what it may have in the store is released. */
	void giveUp() {
		this.environment.sendInBackground(new Command(Command.Kind.RELEASE, this.token, 0, true));
		forget();
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
		else if (!this.environment.isKnownInBackground(message.token())
				&& this.scenario.has(Rule.ORPHANS_ARE_RELEASED)) {
			this.environment.sendInBackground(new Command(Command.Kind.RELEASE, message.token(), 0, false));
		}
	}

	private void about(Message message) {
		boolean attempting = this.phase == Phase.REQUESTED || this.phase == Phase.REPLIED;
		if (message.kind() == Message.Kind.WANTED) {
			this.othersWait = true;
			this.attemptNow |= attempting || this.phase == Phase.WAITING;
		}
		else if (attempting && this.scenario.has(Rule.GRANT_WAITS_FOR_RESULT)) {
			this.pendingGrant = message.fencingToken();
			this.othersWait |= message.othersWait();
		}
		else if (attempting || this.phase == Phase.WAITING) {
			this.othersWait |= message.othersWait();
			consider(message.fencingToken());
			return;
		}
		boolean owns = this.phase == Phase.HELD || this.phase == Phase.RELEASING;
		if (owns && !this.scenario.has(Rule.KNOWN_TOKENS_ARE_NOT_RELEASED)) {
			this.environment.sendInBackground(new Command(Command.Kind.RELEASE, message.token(), 0, true));
		}
	}

	private void considerPendingGrant() {
		int grant = this.pendingGrant;
		this.pendingGrant = 0;
		if (grant > 0) {
			consider(grant);
		}
	}

	private int grantTtl() {
		return this.scenario.has(Rule.GRANT_TTL) ? Scenario.GRANT_TTL : Scenario.TTL;
	}

	/** Uses a grant, if it is certainly younger than the last attempt that was busy. */
	private void consider(int grant) {
		int ttl = grantTtl();
		int left = this.scenario.has(Rule.GRANT_COUNTS_FROM_ATTEMPT) ? ttl - this.busySentAge : ttl;
		boolean isNew = grant > this.lastFencingToken || !this.scenario.has(Rule.GRANT_IS_NEW);
		if (this.foundBusy && isNew && left > 0) {
			this.result = Result.NONE;
			hold(grant, left);
		}
		else if (this.phase == Phase.WAITING) {
			this.attemptNow = true;
		}
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
		this.attemptNow |= this.phase == Phase.REQUESTED || this.phase == Phase.REPLIED || this.phase == Phase.WAITING;
	}

	// ownership

	private void hold(int given, int left) {
		this.phase = Phase.HELD;
		this.deadlineLeft = left;
		this.fencingToken = given;
		this.pendingGrant = 0;
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

	void endHold() {
		this.phase = Phase.RELEASING;
	}

	/** Of a release, the last fencing token, if the store cannot know it. */
	private int lastUsed() {
		return (this.handoffs > 0) ? this.fencingToken : 0;
	}

	Command releaseCommand() {
		return new Command(Command.Kind.RELEASE, this.token, lastUsed(), false);
	}

	/** The release script runs, and its result arrives. */
	void releaseExecuted(boolean miscount) {
		this.store.release(this.token, lastUsed(), miscount);
		forget();
	}

	/**
	 * The lease is lost, and the work ends later. A message about its token causes the
	 * release that the end of the work sends.
	 */
	void lose() {
		this.environment.sendInBackground(
				new Command(Command.Kind.RELEASE, this.token, lastUsed(), this.scenario.has(Rule.LOST_TOKEN_REPORTED)));
		forget();
	}

	void forget() {
		this.phase = Phase.IDLE;
		this.token = Tokens.NONE;
		this.queued = false;
		this.mayPoll = false;
		this.polls = false;
		this.unanswered = false;
		this.attemptNow = false;
		this.result = Result.NONE;
		this.foundBusy = false;
		this.pendingGrant = 0;
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
			lose();
		}
		else if (this.deadlineLeft > 0 || !this.scenario.has(Rule.DEADLINE_IS_FINAL)) {
			this.deadlineLeft = Math.max(this.deadlineLeft, ended.ttl() - ended.sentAge());
		}
	}

	// what happens to it

	void tick(boolean fair) {
		if (this.phase != Phase.IDLE || this.role == Role.TRIES) {
			this.sentAge = Math.min(this.sentAge + 1, OLD);
		}
		this.busySentAge = this.foundBusy ? Math.min(this.busySentAge + 1, OLD) : 0;
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
		boolean retries = this.scenario.has(Rule.RETRY) || !this.foundBusy;
		// the interval of a token that polls is shorter than the lease that it is given
		boolean found = this.polls && this.store.owner() == this.token;
		return this.phase == Phase.WAITING
				&& (found || this.attemptNow || (retries && this.sentAge >= Scenario.RETRY_INTERVAL));
	}

	boolean isNextTryDue() {
		return this.phase == Phase.IDLE && this.role == Role.TRIES && this.sentAge >= Scenario.RETRY_INTERVAL;
	}

	boolean isWorkDone() {
		return isHolder() && this.worked;
	}

	/** Whether it hands the lock to a local caller instead of releasing it. */
	boolean wantsToHandOff() {
		return this.role.isBusy() && mayHandOff() && (!this.othersWait || !this.scenario.has(Rule.HAND_OFF_IS_BOUNDED));
	}

	boolean needsRenewal() {
		return mayRenew() && this.deadlineLeft * 2 <= Scenario.TTL;
	}

	@Override
	public String toString() {
		return Tokens.instanceName(this.number);
	}

}
