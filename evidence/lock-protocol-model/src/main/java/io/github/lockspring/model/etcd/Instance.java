package io.github.lockspring.model.etcd;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.lockspring.model.Cells;
import io.github.lockspring.model.etcd.Answer.Outcome;
import io.github.lockspring.model.etcd.Call.Stage;
import io.github.lockspring.model.etcd.Request.Type;
import io.github.lockspring.model.etcd.Scenario.Option;

/**
 * One instance with its leases, which all its places share. Times are counted from now,
 * so that none grows without end. Not thread-safe.
 */
final class Instance {

	private final Scenario scenario;

	private final int number;

	private final OwnLease[] leases = { OwnLease.NONE, OwnLease.NONE, OwnLease.NONE };

	/** One for each lock. */
	private final List<Place> places;

	/** What its leases ask for. */
	private Call renewal = Call.NONE;

	/** How often a backup was restored, as far as it knows. */
	private int past;

	private boolean fair;

	Instance(Scenario scenario, int number) {
		this.scenario = scenario;
		this.number = number;
		this.places = IntStream.range(0, scenario.locks()).mapToObj((lock) -> new Place(scenario, this, lock)).toList();
	}

	void pass(Cells cells) {
		for (int i = 0; i < this.leases.length; i++) {
			this.leases[i] = this.leases[i].pass(cells);
		}
		this.places.forEach((place) -> place.pass(cells));
		this.renewal = this.renewal.pass(cells);
		this.past = cells.pass(this.past);
	}

	void rename(Names names) {
		for (int i = 0; i < this.leases.length; i++) {
			this.leases[i] = this.leases[i].renamed(names);
		}
		this.places.forEach((place) -> place.rename(names));
		this.renewal = this.renewal.renamed(names);
	}

	/** From now on it keeps its leases alive. */
	void setFair() {
		this.fair = true;
	}

	/** Whether nobody will ask it for a lock any more. */
	boolean isDone() {
		return this.places.stream().allMatch(Place::isDone);
	}

	boolean isDead() {
		return this.places.stream().allMatch((place) -> place.is(Place.Phase.DEAD));
	}

	void crash() {
		this.places.forEach(Place::crash);
		forgetLeases();
	}

	void forgetLeases() {
		Arrays.fill(this.leases, OwnLease.NONE);
		this.renewal = Call.NONE;
	}

	int number() {
		return this.number;
	}

	List<Place> places() {
		return this.places;
	}

	Call renewal() {
		return this.renewal;
	}

	int past() {
		return this.past;
	}

	OwnLease lease(LeaseKind kind) {
		return this.leases[kind.ordinal()];
	}

	private void setLease(LeaseKind kind, OwnLease lease) {
		this.leases[kind.ordinal()] = lease;
	}

	/** For how long a lease is proven. */
	int provenLeft(LeaseKind kind, int id) {
		OwnLease own = lease(kind);
		return (own.id() == id || !this.scenario.has(Rule.LEASE_OF_THE_REQUEST)) ? own.provenLeft() : 0;
	}

	// renewals

	/** Whether a lease is needed and there is none. */
	boolean mayGrant(LeaseKind kind) {
		return this.renewal.is(Stage.NONE) && lease(kind).id() == 0
				&& this.places.stream().anyMatch((place) -> place.needs(kind));
	}

	void grant(LeaseKind kind) {
		this.renewal = Call.sent(new Request(Type.BEGIN, this.number, 0, 0, 0, 0, kind, Guard.NONE, true, 0),
				this.past);
	}

	/** Whether a lease may be renewed, and the entry of a place read along with it. */
	boolean mayKeepAlive(LeaseKind kind, Place place) {
		OwnLease own = lease(kind);
		return (this.fair || this.scenario.has(Option.RENEWALS)) && this.renewal.is(Stage.NONE) && own.id() != 0
				&& own.provenLeft() < this.scenario.ttl(kind) && (place.lock() == 0 || place.renewed() != 0);
	}

	void keepAlive(LeaseKind kind, Place place) {
		Request request = new Request(Type.KEEP_ALIVE, this.number, place.lock(), place.token(), place.renewed(),
				lease(kind).id(), kind, lease(kind).guard(), false, 0);
		this.renewal = Call.sent(request, this.past);
	}

	void renewalAnswered(Answer answer) {
		this.renewal = this.renewal.answered(answer);
	}

	void renewalFailed() {
		this.renewal = Call.NONE;
	}

	void receiveRenewal() {
		Call received = this.renewal;
		this.renewal = Call.NONE;
		switch (received.request().type()) {
			case BEGIN -> {
				comparePast(received);
				granted(received);
			}
			case KEEP_ALIVE -> keptAlive(received);
			case READ -> {
				comparePast(received);
				proven(received);
			}
			default -> throw new IllegalStateException();
		}
	}

	private void granted(Call received) {
		LeaseKind kind = received.request().kind();
		Guard guard = received.answer().guard();
		setLease(kind, new OwnLease(guard.lease(), guard, left(kind, received.age())));
	}

	private int left(LeaseKind kind, int age) {
		return Math.max(this.scenario.ttl(kind) - (this.scenario.has(Rule.COUNTS_FROM_SENDING) ? age : 0), 0);
	}

	private void keptAlive(Call received) {
		Request request = received.request();
		if (received.answer().outcome() == Outcome.NO_LEASE) {
			loseLease(request);
		}
		if (request.lease() != lease(request.kind()).id()) {
			return;
		}
		Request read = new Request(Type.READ, request.instance(), request.lock(), request.token(), request.revision(),
				request.lease(), request.kind(), request.guard(), false, received.answer().term());
		this.renewal = new Call(Stage.SENT, read, received.age(), this.past, Answer.NONE);
	}

	/** A renewal has been read after: what it proves of the lease and of an entry. */
	private void proven(Call received) {
		Request request = received.request();
		Answer answer = received.answer();
		LeaseKind kind = request.kind();
		if (request.lease() != lease(kind).id()) {
			return;
		}
		if (this.scenario.has(Rule.GUARD_PROVES_LEASE)) {
			guardRead(kind, answer.guard());
		}
		boolean current = !this.scenario.has(Rule.SAME_TERM) || request.term() == answer.term();
		if (lease(kind).id() == 0 || !current) {
			return;
		}
		setLease(kind, lease(kind).proven(left(kind, received.age())));
		this.places.get(request.lock()).read(request, answer, received.age());
	}

	// what it learns of its leases

	/** The guard on another lease: this one is gone. */
	void guardRead(LeaseKind kind, Guard guard) {
		OwnLease own = lease(kind);
		boolean same = guard.lease() == own.id()
				|| (guard != Guard.NONE && !this.scenario.has(Rule.PROOF_COMPARES_LEASE));
		if (same) {
			guardPut(kind, guard);
		}
		else {
			lose(kind);
		}
	}

	void guardPut(LeaseKind kind, Guard guard) {
		setLease(kind, lease(kind).withGuard(guard));
	}

	/** The lease that a request named is gone. */
	void loseLease(Request request) {
		if (request.lease() == lease(request.kind()).id()) {
			lose(request.kind());
		}
	}

	/** A lease is gone, or believed to be; so is what is on it. */
	void lose(LeaseKind kind) {
		setLease(kind, OwnLease.NONE);
		this.places.forEach((place) -> place.leaseLost(kind));
	}

	/**
	 * An answer shows another past than was known when its request was sent: all leases
	 * and holds are lost. What was sent before that was noticed tells nothing new, and
	 * what is no answer of a transaction tells nothing.
	 */
	void comparePast(Call received) {
		Answer answer = received.answer();
		if (answer.outcome() == Outcome.NO_LEASE || !this.scenario.has(Rule.RESTORE_IS_NOTICED)) {
			return;
		}
		int known = this.scenario.has(Rule.PAST_BEFORE_SENDING) ? received.past() : this.past;
		if (answer.past() != known && known == this.past) {
			this.past = answer.past();
			Stream.of(LeaseKind.ALL).forEach(this::lose);
		}
	}

	// time

	/**
	 * @param suspended whether the process does not run meanwhile
	 */
	void tick(boolean suspended) {
		boolean counted = !suspended || this.scenario.has(Rule.CLOCK_COUNTS_SUSPENSIONS);
		if (counted) {
			for (int i = 0; i < this.leases.length; i++) {
				this.leases[i] = this.leases[i].older();
			}
			this.renewal = this.renewal.older(this.scenario.ttl());
			if (isTooOld(this.renewal)) {
				this.renewal = Call.NONE;
			}
		}
		this.places.forEach((place) -> place.tick(counted));
	}

	/** Whether it will prove nothing. */
	private boolean isTooOld(Call keepAlive) {
		return !keepAlive.is(Stage.NONE) && keepAlive.request().type() != Type.BEGIN
				&& left(keepAlive.request().kind(), keepAlive.age()) == 0;
	}

	@Override
	public String toString() {
		return this.places.stream().map(Place::toString).collect(Collectors.joining(", ")) + Stream.of(this.leases)
			.filter((lease) -> lease.id() != 0)
			.map((lease) -> " " + lease)
			.collect(Collectors.joining());
	}

}
