package io.github.lockspring.model.etcd;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.function.Predicate;

import io.github.lockspring.model.Cells;
import io.github.lockspring.model.Violation;
import io.github.lockspring.model.etcd.Answer.Outcome;

/**
 * The queue of one lock in etcd: each request is carried out in one step.
 */
final class Server {

	private static final int NOBODY = -1;

	private final Scenario scenario;

	private List<Lease> leases = new ArrayList<>();

	private List<Guard> guards = new ArrayList<>();

	/** In the order of their creation. */
	private List<Entry> entries = new ArrayList<>();

	/** Which instance's name each instance watches. */
	private final int[] watched;

	/** Whether the deletion of that name is on its way to the watcher. */
	private final boolean[] notified;

	private int term;

	Server(Scenario scenario) {
		this.scenario = scenario;
		this.watched = new int[scenario.instances()];
		this.notified = new boolean[scenario.instances()];
		Arrays.fill(this.watched, NOBODY);
	}

	void pass(Cells cells) {
		this.leases = cells.pass(this.leases, (passed, lease) -> lease.pass(passed), Lease.NONE);
		this.guards = cells.pass(this.guards, (passed, guard) -> guard.pass(passed), Guard.NONE);
		this.entries = cells.pass(this.entries, (passed, entry) -> entry.pass(passed), Entry.NONE);
		for (int i = 0; i < this.watched.length; i++) {
			this.watched[i] = cells.pass(this.watched[i]);
			this.notified[i] = cells.pass(this.notified[i]);
		}
		this.term = cells.pass(this.term);
	}

	void rename(Names names) {
		this.entries.replaceAll((entry) -> entry.renamed(names));
		this.guards.forEach((guard) -> names.presentGuard(guard.name(), guard.modified()));
	}

	void renameLeases(Names names) {
		this.leases.replaceAll((lease) -> lease.renamed(names));
		this.guards.replaceAll((guard) -> guard.renamed(names));
	}

	/** Forgets leases that nobody will name. */
	void forgetLeases(IntPredicate which) {
		this.leases.removeIf((lease) -> which.test(lease.id()));
		this.guards.removeIf((guard) -> which.test(guard.lease()));
	}

	List<Lease> leases() {
		return this.leases;
	}

	List<Entry> entries() {
		return this.entries;
	}

	int term() {
		return this.term;
	}

	void electLeader() {
		this.term++;
	}

	boolean hasLease(int id) {
		return this.leases.stream().anyMatch((lease) -> lease.id() == id);
	}

	Guard guard(int name) {
		return this.guards.stream().filter((guard) -> guard.name() == name).findFirst().orElse(Guard.NONE);
	}

	Entry entry(int instance) {
		return this.entries.stream().filter((entry) -> entry.instance() == instance).findFirst().orElse(Entry.NONE);
	}

	// requests

	Answer execute(Request request) {
		return switch (request.type()) {
			case BEGIN -> begin(request);
			case ADD -> add(request);
			case REMOVE -> remove(request);
			case SETTLE -> putGuard(request) ? answer(request, Outcome.DONE) : answer(request, Outcome.NO_LEASE);
			case PLACE -> place(request);
			case WATCH -> watch(request);
			case KEEP_ALIVE -> keepAlive(request);
			case READ -> read(request);
			case RAISE -> raise(request);
			case KEEP -> keep(request);
			case REVOKE -> revoke(request);
		};
	}

	private Answer begin(Request request) {
		int id = Names.newLease(request.instance());
		int ttl = this.scenario.ttl(request.kind());
		this.leases.add(new Lease(id, ttl, ttl));
		int name = this.scenario.has(Rule.GUARD_IS_NAMED_AFTER_LEASE) ? id
				: Names.fixed(request.instance(), request.kind());
		return renewed(Outcome.DONE, putGuard(name, id), this.term);
	}

	private boolean putGuard(Request request) {
		if (!hasLease(request.lease())) {
			return false;
		}
		putGuard(request.guard().name(), request.lease());
		return true;
	}

	private Guard putGuard(int name, int lease) {
		Guard guard = new Guard(name, lease, Names.NEW_REVISION);
		this.guards.removeIf((other) -> other.name() == name);
		this.guards.add(guard);
		return guard;
	}

	private Answer add(Request request) {
		if (entry(request.instance()) != Entry.NONE) {
			return answer(request, Outcome.TAKEN);
		}
		if (this.scenario.has(Rule.ADDITION_COMPARES_GUARD)
				&& guard(request.guard().name()).modified() != request.guard().modified()) {
			return answer(request, Outcome.GUARD_DIFFERS);
		}
		if (!hasLease(request.lease())) {
			return answer(request, Outcome.NO_LEASE);
		}
		this.entries
			.add(new Entry(request.instance(), request.token(), Names.NEW_REVISION, false, request.lease(), false));
		return answer(request, Outcome.DONE);
	}

	private Answer remove(Request request) {
		if (request.settles() && !putGuard(request)) {
			return answer(request, Outcome.NO_LEASE);
		}
		Entry entry = entry(request.instance());
		boolean removes = entry != Entry.NONE
				&& (entry.revision() == request.revision() || !this.scenario.has(Rule.REMOVAL_COMPARES_REVISION));
		if (!removes) {
			return answer(request, Outcome.GONE);
		}
		Violation.check(!entry.kept(), "a lock that is kept is given away");
		delete(entry::equals);
		return answer(request, Outcome.DONE);
	}

	private Answer place(Request request) {
		boolean there = entry(request.instance()).revision() == request.revision();
		return answer(request, there ? Outcome.DONE : Outcome.GONE);
	}

	/** Puts a watch on the name of another instance, and reads it after that. */
	private Answer watch(Request request) {
		Entry entry = entry(request.token());
		this.watched[request.instance()] = (entry != Entry.NONE) ? request.token() : NOBODY;
		return new Answer(Outcome.DONE, entry.brief(), false, Entry.NONE, Guard.NONE, 0);
	}

	private Answer keepAlive(Request request) {
		boolean known = hasLease(request.lease());
		this.leases.replaceAll((lease) -> (lease.id() == request.lease()) ? lease.renewed() : lease);
		return renewed(known ? Outcome.DONE : Outcome.NO_LEASE, Guard.NONE, this.term);
	}

	/** The answer to a keep-alive, also to one that was not carried out. */
	static Answer renewed(Outcome outcome, Guard guard, int term) {
		return new Answer(outcome, Entry.NONE, false, Entry.NONE, guard, term);
	}

	private Answer read(Request request) {
		return new Answer(Outcome.DONE, entry(request.instance()).brief(), false, Entry.NONE,
				guard(request.guard().name()), this.term);
	}

	private Answer raise(Request request) {
		Entry entry = entry(request.instance());
		boolean raised = entry.lease() == request.lease() && !entry.kept();
		boolean same = !this.scenario.has(Rule.RAISE_COMPARES_MODIFICATION) || !entry.moved() || raised;
		if (entry.revision() != request.revision() || !same) {
			return answer(request, Outcome.GONE);
		}
		if (!hasLease(request.lease())) {
			return answer(request, Outcome.NO_LEASE);
		}
		this.entries.replaceAll((other) -> other.equals(entry) ? other.movedTo(request.lease(), entry.kept()) : other);
		return answer(request, Outcome.DONE);
	}

	private Answer keep(Request request) {
		Entry entry = entry(request.instance());
		if (entry.revision() != request.revision()) {
			return answer(request, Outcome.GONE);
		}
		int id = Names.newLease(request.instance());
		this.leases.add(new Lease(id, 1, 1));
		this.entries.replaceAll((other) -> other.equals(entry) ? other.movedTo(id, true) : other);
		return answer(request, Outcome.DONE);
	}

	private Answer revoke(Request request) {
		end(request.lease());
		return answer(request, Outcome.DONE);
	}

	/** Answers with what one transaction reads: the name, its place, and the guard. */
	private Answer answer(Request request, Outcome outcome) {
		Entry entry = entry(request.instance());
		int place = this.entries.indexOf(entry);
		Entry before = (place > 0) ? this.entries.get(place - 1) : Entry.NONE;
		return new Answer(outcome, entry.brief(), place == 0, before.name(), guard(request.guard().name()), 0)
			.about(request.type());
	}

	// what happens by itself

	/** A lease ends, and with it its guard and its entries. */
	void end(int id) {
		this.leases.removeIf((lease) -> lease.id() == id);
		this.guards.removeIf((guard) -> guard.lease() == id);
		delete((entry) -> entry.lease() == id);
	}

	void deleteByHand(int place) {
		delete(this.entries.get(place)::equals);
	}

	private void delete(Predicate<Entry> which) {
		for (Entry entry : List.copyOf(this.entries)) {
			if (which.test(entry)) {
				this.entries.remove(entry);
				tellWatchers(entry.instance());
			}
		}
	}

	private void tellWatchers(int name) {
		for (int i = 0; i < this.watched.length; i++) {
			if (this.watched[i] == name) {
				this.watched[i] = NOBODY;
				this.notified[i] = true;
			}
		}
	}

	boolean isNotified(int watcher) {
		return this.notified[watcher];
	}

	/** Whether a watcher still has a watch or its message. */
	boolean isWatching(int watcher) {
		return this.notified[watcher] || this.watched[watcher] != NOBODY;
	}

	void endWatch(int watcher) {
		this.watched[watcher] = NOBODY;
		this.notified[watcher] = false;
	}

	void tick() {
		this.leases.replaceAll(Lease::older);
	}

	@Override
	public String toString() {
		return "queue " + this.entries + ", leases " + this.leases + ((this.term > 0) ? ", term " + this.term : "");
	}

}
