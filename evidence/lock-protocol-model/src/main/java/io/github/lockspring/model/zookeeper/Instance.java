package io.github.lockspring.model.zookeeper;

import java.util.Locale;

import io.github.lockspring.model.Cells;
import io.github.lockspring.model.Violation;
import io.github.lockspring.model.zookeeper.Call.Stage;
import io.github.lockspring.model.zookeeper.Request.Type;
import io.github.lockspring.model.zookeeper.Scenario.Option;

/**
 * One instance, its session, and the token that it uses at present. Not thread-safe.
 */
final class Instance {

	/**
	 * How far its token is.
	 */
	enum Phase {

		/** It has none. */
		FREE,
		/** No node is known; with an unanswered addition there may be one. */
		ADDING,
		/** It was given up, and there may be a node. */
		SETTLING,
		/** Its node is present, and not known to be the first. */
		WAITING,
		/** Its node owns the lock. */
		HELD,
		/** Its node is being removed. */
		REMOVING,
		/** The instance has crashed. */
		DEAD

	}

	private static final Phase[] PHASES = Phase.values();

	private final Scenario scenario;

	private final int number;

	private Phase phase = Phase.FREE;

	private int token;

	/** The session that it has, or had as far as it knows; 0: none. */
	private int session;

	private boolean connected;

	/** Ticks since it last heard of its server. */
	private int silence;

	private Proofs proofs = Proofs.NONE;

	/** The node that is present or being removed; 0: none is known. */
	private int zxid;

	private boolean additionUnanswered;

	private boolean removalUnanswered;

	private boolean placeDue;

	/** Without the rule: whether it looks for a node whose removal has no answer. */
	private boolean resumes;

	private Call call = Call.NONE;

	private Call check = Call.NONE;

	// what nobody knows, to judge

	private boolean stolen;

	private boolean told;

	private boolean fair;

	Instance(Scenario scenario, int number) {
		this.scenario = scenario;
		this.number = number;
	}

	void pass(Cells cells) {
		this.phase = cells.pass(this.phase, PHASES);
		this.token = cells.pass(this.token);
		this.session = cells.pass(this.session);
		this.connected = cells.pass(this.connected);
		this.silence = cells.pass(this.silence);
		this.proofs = this.proofs.pass(cells);
		this.zxid = cells.pass(this.zxid);
		this.additionUnanswered = cells.pass(this.additionUnanswered);
		this.removalUnanswered = cells.pass(this.removalUnanswered);
		this.placeDue = cells.pass(this.placeDue);
		this.resumes = cells.pass(this.resumes);
		this.call = this.call.pass(cells);
		this.check = this.check.pass(cells);
		this.stolen = cells.pass(this.stolen);
		this.told = cells.pass(this.told);
	}

	void rename(Names names) {
		this.session = names.session(this.session);
		this.zxid = names.zxid(this.zxid);
		this.call = this.call.renamed(names);
		this.check = this.check.renamed(names);
	}

	/** From now on it checks its node. */
	void setFair() {
		this.fair = true;
	}

	int number() {
		return this.number;
	}

	boolean is(Phase other) {
		return this.phase == other;
	}

	int zxid() {
		return this.zxid;
	}

	int session() {
		return this.session;
	}

	boolean isConnected() {
		return this.connected;
	}

	Call call() {
		return this.call;
	}

	Call check() {
		return this.check;
	}

	boolean isIdle() {
		return this.call.is(Stage.NONE);
	}

	boolean isHolder() {
		return this.phase == Phase.HELD && believedLeft() > 0;
	}

	int believedLeft() {
		return this.proofs.left(this.scenario);
	}

	/** Whether nobody will ask it for the lock any more. */
	boolean isDone() {
		return this.phase == Phase.DEAD || (this.phase == Phase.FREE && this.token == this.scenario.tokens());
	}

	// callers

	boolean mayBegin() {
		return this.phase == Phase.FREE && this.token < this.scenario.tokens();
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
		else if (this.additionUnanswered && this.session != 0) {
			this.phase = Phase.SETTLING;
		}
		else {
			forget();
		}
	}

	void endHold() {
		this.phase = Phase.REMOVING;
	}

	boolean isOver() {
		return this.phase == Phase.HELD && isIdle() && believedLeft() == 0;
	}

	/** The engine knows the end of the hold by itself. */
	void expire() {
		this.told = true;
		this.phase = Phase.REMOVING;
	}

	boolean mayResume() {
		return this.phase == Phase.REMOVING && isIdle() && this.removalUnanswered && !this.resumes
				&& !this.scenario.has(Rule.REMOVAL_IS_FINAL);
	}

	void resume() {
		this.resumes = true;
	}

	void crash() {
		this.phase = Phase.DEAD;
		forgetNode();
		this.additionUnanswered = false;
		endSession();
	}

	// connection and session

	boolean mayConnect() {
		return this.session == 0 && this.phase == Phase.ADDING;
	}

	void connected(int begun) {
		this.session = begun;
		this.connected = true;
		this.silence = 0;
		this.proofs = Proofs.NONE.with(0);
	}

	void disconnect() {
		this.connected = false;
		if (!isIdle()) {
			failed(this.call.request().type());
		}
		this.call = Call.NONE;
		this.check = Call.NONE;
	}

	private void failed(Type type) {
		switch (type) {
			case ADD -> this.additionUnanswered = true;
			case REMOVE -> this.removalUnanswered = true;
			case PLACE -> this.placeDue = true;
			case FIND, CHECK -> {
			}
		}
	}

	void reconnected() {
		this.connected = true;
		this.silence = 0;
	}

	/** The server says that the session has ended, and its nodes with it. */
	void expired() {
		endSession();
		this.additionUnanswered = false;
		if (this.phase == Phase.WAITING) {
			addAgain();
		}
		else if (this.phase != Phase.ADDING && this.phase != Phase.FREE) {
			this.told |= this.phase == Phase.HELD || !this.removalUnanswered;
			forget();
		}
	}

	/** It begins another session, while the former one may live. */
	void giveSessionUp() {
		endSession();
		if (this.phase == Phase.WAITING) {
			addAgain();
		}
		else if (this.phase != Phase.ADDING && this.phase != Phase.FREE) {
			this.told = true;
			forget();
		}
	}

	void forgetSession() {
		endSession();
	}

	private void endSession() {
		this.session = 0;
		this.connected = false;
		this.silence = 0;
		this.proofs = Proofs.NONE;
		this.call = Call.NONE;
		this.check = Call.NONE;
	}

	// requests

	boolean maySend() {
		if (!isIdle() || !this.connected) {
			return false;
		}
		return switch (this.phase) {
			case ADDING, SETTLING, REMOVING -> true;
			case WAITING -> this.placeDue && believedLeft() > 0;
			case FREE, HELD, DEAD -> false;
		};
	}

	Request next() {
		return switch (this.phase) {
			case ADDING -> request(
					(this.additionUnanswered && this.scenario.has(Rule.LOOKS_BEFORE_ADDING)) ? Type.FIND : Type.ADD);
			case SETTLING -> request(Type.FIND);
			case WAITING -> request(Type.PLACE);
			case REMOVING -> request(this.resumes ? Type.FIND : Type.REMOVE);
			case FREE, HELD, DEAD -> throw new IllegalStateException();
		};
	}

	private Request request(Type type) {
		return new Request(type, this.number, this.token, this.zxid, this.session);
	}

	void send() {
		this.call = Call.sent(next());
		this.placeDue = false;
	}

	/** Sends at once what may come late all the same, since nothing counts from it. */
	void sendWhatNeedsNoTime() {
		if (maySend() && !mayResume() && next().type() != Type.ADD) {
			send();
		}
	}

	boolean mayCheck() {
		return (this.fair || this.scenario.has(Option.CHECKS)) && this.connected && this.check.is(Stage.NONE)
				&& this.proofs.last() > 0;
	}

	void sendCheck() {
		int about = (this.phase == Phase.WAITING || this.phase == Phase.HELD) ? this.zxid : 0;
		this.check = Call.sent(new Request(Type.CHECK, this.number, this.token, about, this.session));
	}

	void answered(Call answered) {
		this.call = answered;
	}

	void checkAnswered(Call answered) {
		this.check = answered;
	}

	void receive() {
		Call received = this.call;
		this.call = Call.NONE;
		this.silence = 0;
		switch (received.request().type()) {
			case ADD -> {
				prove(received);
				present(received);
			}
			case FIND -> found(received);
			case REMOVE -> {
				prove(received);
				removed(received);
			}
			case PLACE -> placed(received);
			case CHECK -> throw new IllegalStateException();
		}
	}

	private void prove(Call received) {
		this.proofs = this.proofs.with(this.scenario.has(Rule.COUNTS_FROM_SENDING) ? received.age() : 0);
	}

	private void present(Call received) {
		this.zxid = received.node().zxid();
		this.additionUnanswered = false;
		this.phase = Phase.WAITING;
		if (received.first() && believedLeft() > 0) {
			this.phase = Phase.HELD;
		}
		this.placeDue = received.first() && this.phase == Phase.WAITING;
	}

	private void placed(Call received) {
		if (this.phase != Phase.WAITING) {
			return;
		}
		if (received.node() == Node.NONE || received.node().zxid() != this.zxid) {
			addAgain();
			return;
		}
		present(received);
	}

	private void found(Call received) {
		boolean there = received.node().zxid() != 0;
		if (this.phase == Phase.SETTLING && there) {
			this.zxid = received.node().zxid();
			this.phase = Phase.REMOVING;
		}
		else if (this.phase == Phase.SETTLING) {
			forget();
		}
		else if (there) {
			this.resumes = false;
			present(received);
		}
		else if (this.phase == Phase.REMOVING) {
			forget();
		}
		this.additionUnanswered = false;
	}

	private void removed(Call received) {
		boolean gone = received.node().zxid() == 0;
		this.told |= gone && !this.removalUnanswered && this.scenario.has(Rule.LOSS_IS_TOLD);
		forget();
	}

	void receiveCheck() {
		Call received = this.check;
		this.check = Call.NONE;
		this.silence = 0;
		prove(received);
		int about = received.request().zxid();
		if (about == 0 || about != this.zxid || received.node().zxid() != 0) {
			return;
		}
		if (this.phase == Phase.WAITING) {
			addAgain();
		}
		else if (this.phase == Phase.HELD) {
			this.told = true;
			forget();
		}
	}

	void watchFired() {
		this.placeDue = true;
	}

	// the end of a node

	private void addAgain() {
		forgetNode();
		this.phase = Phase.ADDING;
	}

	private void forget() {
		Violation.check(!this.stolen || this.told || this.removalUnanswered, "the loss of the lock is not told");
		forgetNode();
		this.additionUnanswered = false;
		this.phase = Phase.FREE;
	}

	private void forgetNode() {
		this.zxid = 0;
		this.removalUnanswered = false;
		this.placeDue = false;
		this.resumes = false;
		this.stolen = false;
		this.told = false;
	}

	/** Notes a loss that is to be told. */
	void judge(boolean present) {
		this.stolen |= this.phase == Phase.HELD && !present;
	}

	// time

	/** Whether it has heard nothing for two thirds of the timeout. */
	boolean isSilent() {
		return this.scenario.reports() && this.connected && this.silence >= this.scenario.timeout() * 2 / 3;
	}

	void tick(boolean suspended) {
		if (!suspended || this.scenario.has(Rule.CLOCK_COUNTS_SUSPENSIONS)) {
			this.proofs = this.proofs.older();
			this.call = this.call.older(this.scenario.timeout());
			this.check = this.check.older(this.scenario.timeout());
			if (this.scenario.reports() && this.connected) {
				this.silence++;
			}
		}
		this.placeDue |= this.phase == Phase.WAITING && this.scenario.has(Rule.PLACE_IS_ASKED_FOR);
	}

	@Override
	public String toString() {
		return World.name(this.number) + " " + this.phase.name().toLowerCase(Locale.ROOT)
				+ ((this.phase == Phase.HELD) ? " for " + believedLeft() : "") + (this.connected ? "" : " alone");
	}

}
