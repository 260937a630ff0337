package io.github.lockspring.model.etcd;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Stream;

import io.github.lockspring.model.Cells;
import io.github.lockspring.model.Violation;
import io.github.lockspring.model.etcd.Answer.Outcome;
import io.github.lockspring.model.etcd.Call.Stage;
import io.github.lockspring.model.etcd.Request.Type;
import io.github.lockspring.model.etcd.Scenario.Option;
import org.jspecify.annotations.Nullable;

/**
 * What an instance knows of its place in the queue of one lock, and the token that it
 * uses there at present. Times are counted from now, so that none grows without end. Not
 * thread-safe.
 */
final class Place {

	/**
	 * How far its token is.
	 */
	enum Phase {

		/** It has none. */
		FREE,
		/** No entry is known; with an unanswered addition there may be one. */
		ADDING,
		/** An entry of that name is not the one it wants: it is removed first. */
		CLEARING,
		/** Its entry is present, and not known to be the first. */
		WAITING,
		/** Its entry owns the lock. */
		HELD,
		/** As {@link #HELD}, and nothing renews the hold. */
		HANGING,
		/** Its entry is moved to a lease of its own, the ownership has ended. */
		KEEPING,
		/** Its entry is being removed. */
		REMOVING,
		/** It was given up, and there may be an entry. */
		SETTLING,
		/** The instance has crashed. */
		DEAD

	}

	private static final Phase[] PHASES = Phase.values();

	private final Scenario scenario;

	private final Instance instance;

	private final int lock;

	private Phase phase = Phase.FREE;

	private int token;

	/** The entry that is present or being removed; 0: none is known. */
	private int revision;

	/** Which lease its next addition names, or its entry was added on. */
	private LeaseKind kind = LeaseKind.FIRST;

	/** The lease that the request named which added the entry. */
	private int lease;

	/** The longer lease on which the entry is, or may be; 0: none. */
	private int raisedTo;

	/** Whether it is known to be on that one. */
	private boolean raised;

	/** How long the hold lasts by its own time. */
	private int holdLeft;

	/** On which leases an addition may be carried out later. */
	private final boolean[] unanswered = new boolean[LeaseKind.ALL.length];

	/** Whether a removal has no answer. */
	private boolean removalUnanswered;

	private Entry before = Entry.NONE;

	/** Whether it has put a watch on the entry before its own. */
	private boolean watching;

	private boolean placeDue;

	/** Whether its name is taken by an entry that is kept. */
	private boolean triesLater;

	/** What the token asks for. */
	private Call call = Call.NONE;

	/** How often a backup had been restored when its hold began. */
	private int past;

	// what nobody knows, to judge

	/** Whether the entry went away during the hold without a removal of its own. */
	private boolean stolen;

	private boolean told;

	Place(Scenario scenario, Instance instance, int lock) {
		this.scenario = scenario;
		this.instance = instance;
		this.lock = lock;
	}

	void pass(Cells cells) {
		this.phase = cells.pass(this.phase, PHASES);
		this.token = cells.pass(this.token);
		this.revision = cells.pass(this.revision);
		this.kind = cells.pass(this.kind, LeaseKind.ALL);
		this.lease = cells.pass(this.lease);
		this.raisedTo = cells.pass(this.raisedTo);
		this.raised = cells.pass(this.raised);
		this.holdLeft = cells.pass(this.holdLeft);
		for (int i = 0; i < this.unanswered.length; i++) {
			this.unanswered[i] = cells.pass(this.unanswered[i]);
		}
		this.removalUnanswered = cells.pass(this.removalUnanswered);
		this.before = this.before.pass(cells);
		this.watching = cells.pass(this.watching);
		this.placeDue = cells.pass(this.placeDue);
		this.triesLater = cells.pass(this.triesLater);
		this.call = this.call.pass(cells);
		this.past = cells.pass(this.past);
		this.stolen = cells.pass(this.stolen);
		this.told = cells.pass(this.told);
	}

	void rename(Names names) {
		this.revision = names.revision(this.revision);
		this.lease = names.lease(this.lease);
		this.raisedTo = names.lease(this.raisedTo);
		this.before = this.before.renamed(names);
		this.call = this.call.renamed(names);
	}

	/** Whether nobody will ask for the lock here any more. */
	boolean isDone() {
		return this.phase == Phase.FREE && !mayBegin();
	}

	Instance instance() {
		return this.instance;
	}

	int lock() {
		return this.lock;
	}

	/** Its number among the places of all instances. */
	int number() {
		return this.scenario.place(this.instance.number(), this.lock);
	}

	String name() {
		return World.name(this.instance.number(), this.lock);
	}

	boolean is(Phase other) {
		return this.phase == other;
	}

	int token() {
		return this.token;
	}

	int revision() {
		return this.revision;
	}

	Call call() {
		return this.call;
	}

	/** How often a backup had been restored when its hold began. */
	int past() {
		return this.past;
	}

	boolean isIdle() {
		return this.call.is(Stage.NONE);
	}

	private OwnLease lease(LeaseKind which) {
		return this.instance.lease(which);
	}

	// what it believes

	boolean isOwner() {
		return this.phase == Phase.HELD || this.phase == Phase.HANGING;
	}

	/** Whether it believes that it holds the lock now. */
	boolean isHolder() {
		return isOwner() && believedLeft() > 0;
	}

	int believedLeft() {
		if (!this.scenario.has(Rule.EARLIEST_OF_HOLD_AND_LEASE)) {
			return this.holdLeft;
		}
		int left = this.holdLeft;
		if (!this.raised) {
			left = Math.min(left, this.instance.provenLeft(this.kind, this.lease));
		}
		if (isOnRaised()) {
			left = Math.min(left, this.instance.provenLeft(LeaseKind.RAISED, this.raisedTo));
		}
		return left;
	}

	/** Whether the longer lease counts for its entry. */
	private boolean isOnRaised() {
		return this.raised || (this.raisedTo != 0 && this.scenario.has(Rule.RAISE_COUNTS_BOTH));
	}

	// callers

	boolean mayBegin() {
		return this.phase == Phase.FREE && this.token < this.scenario.tokens(this.instance.number(), this.lock);
	}

	void begin() {
		this.token++;
		this.phase = Phase.ADDING;
	}

	boolean mayGiveUp() {
		return this.scenario.has(Option.GIVING_UP) && isIdle()
				&& (this.phase == Phase.ADDING || this.phase == Phase.WAITING);
	}

	void giveUp() {
		if (this.phase == Phase.WAITING) {
			this.phase = Phase.REMOVING;
		}
		else {
			forget();
		}
	}

	void hang() {
		this.phase = Phase.HANGING;
	}

	void endHold() {
		this.phase = Phase.REMOVING;
	}

	boolean mayKeep() {
		return this.phase == Phase.HELD && isIdle() && this.scenario.has(Option.KEEPS);
	}

	void keep() {
		this.phase = Phase.KEEPING;
	}

	boolean isOver() {
		return isIdle() && believedLeft() == 0 && (this.phase == Phase.HELD
				|| (this.phase == Phase.HANGING && this.scenario.has(Rule.REMOVED_AT_ITS_END)));
	}

	/** The engine knows the end of the hold by itself. */
	void expire() {
		this.told = true;
		this.phase = Phase.REMOVING;
	}

	/** Without the rule: a caller comes, and the entry is still in the list. */
	boolean mayResume() {
		return this.phase == Phase.REMOVING && isIdle() && this.removalUnanswered
				&& !this.scenario.has(Rule.REMOVAL_IS_FINAL);
	}

	void resume() {
		this.phase = Phase.WAITING;
		this.placeDue = true;
	}

	void crash() {
		this.call = Call.NONE;
		this.phase = Phase.DEAD;
		forgetEntry();
		Arrays.fill(this.unanswered, false);
	}

	// requests of the token

	/** The attempts of a token may differ in their ttl. */
	boolean mayNameOther() {
		return this.scenario.has(Option.TWO_LENGTHS) && this.phase == Phase.ADDING && isIdle();
	}

	void nameOther() {
		this.kind = other();
	}

	private LeaseKind other() {
		return (this.kind == LeaseKind.FIRST) ? LeaseKind.OTHER : LeaseKind.FIRST;
	}

	/** Returns a lease on which an addition may be carried out later. */
	private @Nullable LeaseKind unsettled() {
		return Stream.of(LeaseKind.ALL).filter((each) -> this.unanswered[each.ordinal()]).findFirst().orElse(null);
	}

	/** Whether there is something to ask for now. */
	boolean maySend() {
		if (!isIdle()) {
			return false;
		}
		return switch (this.phase) {
			case ADDING -> lease(this.kind).provenLeft() > 0 && !this.triesLater;
			case CLEARING, REMOVING, KEEPING, SETTLING -> true;
			case WAITING -> this.placeDue || !this.watching;
			case HELD -> mayRaise();
			case FREE, HANGING, DEAD -> false;
		};
	}

	private boolean mayRaise() {
		return this.scenario.has(Option.RAISES) && !this.raised && lease(LeaseKind.RAISED).provenLeft() > 0;
	}

	/** Returns what is to be asked for next. */
	Request next() {
		return switch (this.phase) {
			case ADDING -> request(Type.ADD, 0, this.kind, false);
			case SETTLING -> request(Type.SETTLE, 0, Objects.requireNonNull(unsettled()), true);
			case CLEARING, REMOVING -> removal();
			case KEEPING -> request(Type.KEEP, this.revision);
			case WAITING -> this.placeDue ? request(Type.PLACE, this.revision) : watch();
			case HELD -> new Request(Type.RAISE, this.instance.number(), this.lock, this.token, this.revision,
					lease(LeaseKind.RAISED).id(), LeaseKind.RAISED, Guard.NONE, false, 0);
			case FREE, HANGING, DEAD -> throw new IllegalStateException();
		};
	}

	private Request request(Type type, int about) {
		return new Request(type, this.instance.number(), this.lock, this.token, about, 0, LeaseKind.FIRST, Guard.NONE,
				false, 0);
	}

	private Request request(Type type, int about, LeaseKind named, boolean settles) {
		return new Request(type, this.instance.number(), this.lock, this.token, about, lease(named).id(), named,
				lease(named).guard(), settles, 0);
	}

	private Request removal() {
		LeaseKind unsettled = this.scenario.has(Rule.GUARD_BEFORE_FORGETTING) ? unsettled() : null;
		return (unsettled != null) ? request(Type.REMOVE, this.revision, unsettled, true)
				: request(Type.REMOVE, this.revision);
	}

	private Request watch() {
		return new Request(Type.WATCH, this.instance.number(), this.lock, this.before.instance(),
				this.before.revision(), 0, LeaseKind.FIRST, Guard.NONE, false, 0);
	}

	void send() {
		Request request = next();
		switch (request.type()) {
			case PLACE -> this.placeDue = false;
			case WATCH -> this.watching = true;
			case RAISE -> this.raisedTo = request.lease();
			default -> {
			}
		}
		this.call = Call.sent(request, this.instance.past());
	}

	/**
	 * Sends at once what may come late all the same: only what counts from its sending is
	 * another request when it is sent later.
	 */
	void sendWhatNeedsNoTime() {
		if (maySend() && !next().countsFromSending() && !mayResume()) {
			send();
		}
	}

	void callAnswered(Answer answer) {
		this.call = this.call.answered(answer);
	}

	/** A request has no answer: it may have been carried out, or will be later. */
	void callFailed() {
		Request request = this.call.request();
		this.call = Call.NONE;
		switch (request.type()) {
			case ADD -> additionUnanswered(request);
			case REMOVE -> removalUnanswered();
			case PLACE -> this.placeDue = true;
			case WATCH -> this.watching = false;
			default -> {
			}
		}
	}

	/** The client library repeats an addition by itself. */
	void additionRepeated() {
		if (this.scenario.has(Rule.REPEATED_IS_UNANSWERED)) {
			additionUnanswered(this.call.request());
		}
	}

	/** What is added on another lease ends with it, since nobody renews it. */
	private void additionUnanswered(Request addition) {
		this.unanswered[addition.kind().ordinal()] |= addition.lease() == lease(addition.kind()).id();
	}

	/** Only an entry that was its own is not used again. */
	private void removalUnanswered() {
		this.removalUnanswered = true;
		if (this.phase == Phase.CLEARING) {
			addAgain();
		}
	}

	void receive() {
		Call received = this.call;
		this.call = Call.NONE;
		Answer answer = received.answer();
		this.instance.comparePast(received);
		switch (received.request().type()) {
			case ADD -> addAnswered(received, answer);
			case REMOVE -> removalAnswered(received.request(), answer);
			case SETTLE -> settled(received.request(), answer);
			case PLACE -> placeAnswered(received, answer);
			case WATCH -> watchAnswered(received.request(), answer);
			case RAISE -> raiseAnswered(received.request(), answer);
			case KEEP -> keepAnswered(answer);
			default -> throw new IllegalStateException();
		}
	}

	private void addAnswered(Call received, Answer answer) {
		Request request = received.request();
		switch (answer.outcome()) {
			case DONE -> added(received, answer);
			case GUARD_DIFFERS -> {
				if (request.lease() == lease(request.kind()).id()) {
					guardDiffers(request.kind(), answer.guard());
				}
			}
			case NO_LEASE -> this.instance.loseLease(request);
			case TAKEN -> taken(answer.name());
			case GONE -> throw new IllegalStateException();
		}
	}

	private void added(Call received, Answer answer) {
		int present = lease(received.request().kind()).id();
		this.revision = answer.name().revision();
		this.lease = this.scenario.has(Rule.LEASE_OF_THE_REQUEST) ? received.request().lease() : present;
		if (this.lease != present) {
			// its lease is gone, or believed to be
			this.phase = Phase.CLEARING;
			return;
		}
		this.phase = Phase.WAITING;
		this.removalUnanswered = false;
		place(answer, received.age());
	}

	private void guardDiffers(LeaseKind named, Guard guard) {
		if (this.scenario.has(Rule.MOVED_GUARD_IS_NO_LOSS)) {
			this.instance.guardRead(named, guard);
		}
		else {
			this.instance.lose(named);
		}
	}

	private void taken(Entry name) {
		if (name.kept()) {
			this.triesLater = true;
			return;
		}
		boolean onOther = name.lease() == lease(other()).id() && this.scenario.has(Rule.ADOPTED_WHICHEVER_IS_NAMED);
		this.kind = onOther ? other() : this.kind;
		int present = lease(this.kind).id();
		this.revision = name.revision();
		this.lease = present;
		boolean usable = present != 0 && name.token() == this.token
				&& (name.lease() == present || !this.scenario.has(Rule.ADOPTED_WITH_PRESENT_LEASE));
		this.phase = usable ? Phase.WAITING : Phase.CLEARING;
		this.removalUnanswered = false;
		this.placeDue = usable;
	}

	private void place(Answer answer, int age) {
		int left = this.scenario.ttl() - (this.scenario.has(Rule.COUNTS_FROM_SENDING) ? age : 0);
		this.holdLeft = Math.max(left, 0);
		if (!answer.first()) {
			if (!answer.before().equals(this.before)) {
				this.watching = false;
			}
			this.before = answer.before();
			return;
		}
		this.watching = true;
		if (believedLeft() == 0) {
			this.placeDue = true;
			return;
		}
		this.before = Entry.NONE;
		this.past = answer.past();
		this.phase = Phase.HELD;
	}

	private void placeAnswered(Call received, Answer answer) {
		if (this.phase != Phase.WAITING || received.request().revision() != this.revision) {
			return;
		}
		if (answer.outcome() == Outcome.GONE) {
			addAgain();
			return;
		}
		place(answer, received.age());
	}

	private void watchAnswered(Request request, Answer answer) {
		if (this.phase != Phase.WAITING || request.revision() != this.before.revision()) {
			return;
		}
		boolean there = this.scenario.has(Rule.WATCH_COMPARES_REVISION) ? answer.name().revision() == request.revision()
				: answer.name().revision() != 0;
		this.placeDue |= !there;
	}

	void watchFired() {
		this.placeDue = true;
		this.watching = false;
	}

	private void raiseAnswered(Request request, Answer answer) {
		switch (answer.outcome()) {
			case DONE -> {
				boolean own = this.scenario.has(Rule.RAISE_OF_ITS_ENTRY);
				(own ? List.of(this) : this.instance.places()).forEach((place) -> place.raisedTo(request.lease()));
			}
			case NO_LEASE -> this.instance.loseLease(request);
			default -> entryGone(answer.name());
		}
	}

	private void raisedTo(int longer) {
		this.raised = isOwner();
		this.raisedTo = this.raised ? longer : this.raisedTo;
	}

	private void keepAnswered(Answer answer) {
		this.told |= answer.outcome() == Outcome.GONE;
		forget();
	}

	private void removalAnswered(Request request, Answer answer) {
		if (answer.outcome() == Outcome.NO_LEASE) {
			this.removalUnanswered = true;
			this.instance.loseLease(request);
			return;
		}
		guardWasPut(request, answer);
		boolean lost = answer.outcome() == Outcome.GONE && !this.removalUnanswered;
		this.told |= lost && this.scenario.has(Rule.LOSS_IS_TOLD);
		if (answer.name().revision() != 0 && !answer.name().kept()) {
			this.revision = answer.name().revision();
			return;
		}
		if (this.phase == Phase.CLEARING) {
			addAgain();
		}
		else {
			forget();
		}
	}

	private void guardWasPut(Request request, Answer answer) {
		if (request.settles() && request.lease() == lease(request.kind()).id()) {
			boolean own = this.scenario.has(Rule.GUARD_SETTLES_ITS_TOKEN);
			(own ? List.of(this) : this.instance.places())
				.forEach((place) -> place.unanswered[request.kind().ordinal()] = false);
			this.instance.guardPut(request.kind(), answer.guard());
		}
	}

	private void settled(Request request, Answer answer) {
		if (answer.outcome() == Outcome.NO_LEASE) {
			this.instance.loseLease(request);
			return;
		}
		guardWasPut(request, answer);
		Entry found = answer.name();
		if (found.revision() != 0 && !found.kept() && this.scenario.has(Rule.GUARD_WITH_A_LOOK)) {
			this.revision = found.revision();
			this.phase = Phase.REMOVING;
			return;
		}
		forget();
	}

	// the end of an entry

	private void addAgain() {
		forgetEntry();
		this.phase = Phase.ADDING;
	}

	private void entryGone(Entry name) {
		if (this.revision != name.revision()) {
			this.told |= !this.removalUnanswered;
			forget();
		}
		else if (isOwner()) {
			this.told = true;
			this.phase = Phase.REMOVING;
		}
	}

	/** The token is done, once no addition can bring it back. */
	private void forget() {
		if (unsettled() != null && this.scenario.has(Rule.GUARD_BEFORE_FORGETTING)) {
			this.phase = Phase.SETTLING;
			return;
		}
		Violation.check(!this.stolen || this.told || this.removalUnanswered, "the loss of the lock is not told");
		forgetEntry();
		this.kind = LeaseKind.FIRST;
		Arrays.fill(this.unanswered, false);
		this.phase = Phase.FREE;
	}

	private void forgetEntry() {
		this.revision = 0;
		this.lease = 0;
		this.raisedTo = 0;
		this.raised = false;
		this.holdLeft = 0;
		this.before = Entry.NONE;
		this.watching = false;
		this.placeDue = false;
		this.triesLater = false;
		this.removalUnanswered = false;
		this.past = 0;
		this.stolen = false;
		this.told = false;
	}

	/** Notes a loss that is to be told. */
	void judge(Entry present) {
		this.stolen |= isOwner() && present.revision() != this.revision;
	}

	/** What was taken away may be back. */
	void forgetLoss() {
		this.stolen = false;
	}

	// leases of its instance

	/** Whether a lease is needed here. */
	boolean needs(LeaseKind which) {
		return (which == LeaseKind.RAISED) ? this.phase == Phase.HELD && this.scenario.has(Option.RAISES)
				: which == this.kind && (this.phase == Phase.ADDING || this.phase == Phase.WAITING);
	}

	/** Returns the entry that a renewal is to read; 0: none. */
	int renewed() {
		return (this.phase == Phase.WAITING || this.phase == Phase.HELD) ? this.revision : 0;
	}

	/** A renewal has been read after: what it proves of the entry. */
	void read(Request request, Answer answer, int age) {
		boolean same = request.revision() == this.revision || !this.scenario.has(Rule.RENEWAL_OF_THIS_ENTRY);
		if (request.revision() != 0 && same && (isOwner() || this.phase == Phase.WAITING)) {
			entryRead(request, answer, age);
		}
	}

	private void entryRead(Request request, Answer answer, int age) {
		if (answer.name().revision() == request.revision()) {
			if (this.phase == Phase.HELD) {
				this.holdLeft = Math.max(this.holdLeft, this.scenario.ttl() - age);
				this.past = answer.past();
			}
			return;
		}
		if (this.phase == Phase.WAITING) {
			addAgain();
		}
		else {
			this.told = true;
			forget();
		}
	}

	/** A lease of its instance is gone, or believed to be; so is what is on it. */
	void leaseLost(LeaseKind which) {
		boolean concerned = (which == LeaseKind.RAISED) ? isOnRaised() : which == this.kind && !this.raised;
		this.unanswered[which.ordinal()] = false;
		if (this.phase == Phase.SETTLING && which != LeaseKind.RAISED) {
			forget();
		}
		else if (isOwner() && concerned) {
			this.told = true;
			this.phase = Phase.REMOVING;
		}
		else if (this.phase == Phase.WAITING && concerned) {
			addAgain();
		}
	}

	/** Without the rule: what has no entries is revoked. */
	boolean mayRevoke() {
		return this.phase == Phase.FREE && lease(LeaseKind.FIRST).id() != 0
				&& !this.scenario.has(Rule.REVOKED_AT_THE_END_ONLY);
	}

	// time

	/**
	 * @param counted whether the tick counts by the clock of the process
	 */
	void tick(boolean counted) {
		if (counted) {
			this.holdLeft = Math.max(this.holdLeft - 1, 0);
			this.call = this.call.older(this.scenario.ttl());
		}
		this.triesLater = false;
		this.placeDue |= this.phase == Phase.WAITING && this.scenario.has(Rule.PLACE_IS_ASKED_FOR);
	}

	@Override
	public String toString() {
		String text = name() + " " + this.phase.name().toLowerCase(Locale.ROOT);
		return isOwner() ? text + " for " + believedLeft() : text;
	}

}
