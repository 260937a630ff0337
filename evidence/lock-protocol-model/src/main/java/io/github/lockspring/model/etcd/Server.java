package io.github.lockspring.model.etcd;

import java.util.Arrays;
import java.util.function.IntPredicate;
import java.util.function.Predicate;

import io.github.lockspring.model.Cells;
import io.github.lockspring.model.Violation;
import io.github.lockspring.model.etcd.Answer.Outcome;

/**
 * The queues of locks in etcd: each request is carried out in one step. Not thread-safe.
 */
final class Server {

	private static final int NOBODY = -1;

	private final Scenario scenario;

	private Data data = new Data();

	/** Empty if there is none. */
	private Data backup = new Data();

	private boolean backedUp;

	/** How often a backup was restored. */
	private int past;

	/** Which instance's name is watched from each place. */
	private final int[] watched;

	/** Whether the deletion of that name is on its way to the watcher. */
	private final boolean[] notified;

	private int term;

	Server(Scenario scenario) {
		this.scenario = scenario;
		this.watched = new int[scenario.places()];
		this.notified = new boolean[scenario.places()];
		Arrays.fill(this.watched, NOBODY);
	}

	void pass(Cells cells) {
		this.data.pass(cells);
		this.backup.pass(cells);
		this.backedUp = cells.pass(this.backedUp);
		this.past = cells.pass(this.past);
		for (int i = 0; i < this.watched.length; i++) {
			this.watched[i] = cells.pass(this.watched[i]);
			this.notified[i] = cells.pass(this.notified[i]);
		}
		this.term = cells.pass(this.term);
	}

	void rename(Names names) {
		this.data.rename(names);
		this.backup.rename(names);
		this.data.guards().forEach((guard) -> names.presentGuard(guard.name(), guard.modified()));
		this.backup.guards().forEach((guard) -> names.backedUpGuard(guard.name(), guard.modified()));
	}

	void renameLeases(Names names) {
		this.data.renameLeases(names);
		this.backup.renameLeases(names);
	}

	/** Forgets leases that nobody will name. */
	void forgetLeases(IntPredicate which) {
		this.data.forgetLeases(which);
		this.backup.forgetLeases(which);
	}

	Data data() {
		return this.data;
	}

	int term() {
		return this.term;
	}

	void electLeader() {
		this.term++;
	}

	boolean hasLease(int id) {
		return this.data.hasLease(id);
	}

	// backups

	boolean isBackedUp() {
		return this.backedUp;
	}

	void backUp() {
		this.backup = this.data.backup();
		this.backedUp = true;
	}

	/** Its watches end, and nobody is told. */
	void restore() {
		this.data = this.backup;
		this.backup = new Data();
		this.backedUp = false;
		this.past++;
		Arrays.fill(this.watched, NOBODY);
	}

	int past() {
		return this.past;
	}

	// requests

	Answer execute(Request request) {
		return answerTo(request).of(this.past);
	}

	private Answer answerTo(Request request) {
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
		this.data.addLease(id, ttl);
		int name = this.scenario.has(Rule.GUARD_IS_NAMED_AFTER_LEASE) ? id
				: Names.fixed(request.instance(), request.kind());
		return renewed(Outcome.DONE, this.data.putGuard(name, id), this.term);
	}

	private boolean putGuard(Request request) {
		if (!hasLease(request.lease())) {
			return false;
		}
		this.data.putGuard(request.guard().name(), request.lease());
		return true;
	}

	/** Returns the entry that has the name which a request is about. */
	private Entry entry(Request request) {
		return this.data.entry(request.instance(), request.lock());
	}

	private Guard guard(Request request) {
		return this.data.guard(request.guard().name());
	}

	private int placeOf(Request request) {
		return this.scenario.place(request.instance(), request.lock());
	}

	private Answer add(Request request) {
		if (entry(request) != Entry.NONE) {
			return answer(request, Outcome.TAKEN);
		}
		if (this.scenario.has(Rule.ADDITION_COMPARES_GUARD)
				&& guard(request).modified() != request.guard().modified()) {
			return answer(request, Outcome.GUARD_DIFFERS);
		}
		if (!hasLease(request.lease())) {
			return answer(request, Outcome.NO_LEASE);
		}
		this.data.add(new Entry(request.instance(), request.lock(), request.token(), Names.NEW_REVISION, false,
				request.lease(), false));
		return answer(request, Outcome.DONE);
	}

	private Answer remove(Request request) {
		if (request.settles() && !putGuard(request)) {
			return answer(request, Outcome.NO_LEASE);
		}
		Entry entry = entry(request);
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
		boolean there = entry(request).revision() == request.revision();
		return answer(request, there ? Outcome.DONE : Outcome.GONE);
	}

	/** Puts a watch on the name of another instance, and reads it after that. */
	private Answer watch(Request request) {
		Entry entry = this.data.entry(request.token(), request.lock());
		this.watched[placeOf(request)] = (entry != Entry.NONE) ? request.token() : NOBODY;
		return new Answer(Outcome.DONE, entry.brief(), false, Entry.NONE, Guard.NONE, 0, 0);
	}

	private Answer keepAlive(Request request) {
		boolean known = hasLease(request.lease());
		this.data.renewLease(request.lease());
		return renewed(known ? Outcome.DONE : Outcome.NO_LEASE, Guard.NONE, this.term);
	}

	/** The answer to a keep-alive, also to one that was not carried out. */
	static Answer renewed(Outcome outcome, Guard guard, int term) {
		return new Answer(outcome, Entry.NONE, false, Entry.NONE, guard, term, 0);
	}

	private Answer read(Request request) {
		return new Answer(Outcome.DONE, entry(request).brief(), false, Entry.NONE, guard(request), this.term, 0);
	}

	private Answer raise(Request request) {
		Entry entry = entry(request);
		boolean raised = entry.lease() == request.lease() && !entry.kept();
		boolean same = !this.scenario.has(Rule.RAISE_COMPARES_MODIFICATION) || !entry.moved() || raised;
		if (entry.revision() != request.revision() || !same) {
			return answer(request, Outcome.GONE);
		}
		if (!hasLease(request.lease())) {
			return answer(request, Outcome.NO_LEASE);
		}
		this.data.replace(entry, entry.movedTo(request.lease(), entry.kept()));
		return answer(request, Outcome.DONE);
	}

	private Answer keep(Request request) {
		Entry entry = entry(request);
		if (entry.revision() != request.revision()) {
			return answer(request, Outcome.GONE);
		}
		int id = Names.newLease(request.instance());
		this.data.addLease(id, 1);
		this.data.replace(entry, entry.movedTo(id, true));
		return answer(request, Outcome.DONE);
	}

	private Answer revoke(Request request) {
		end(request.lease());
		return answer(request, Outcome.DONE);
	}

	/** Answers with what one transaction reads: the name, its place, and the guard. */
	private Answer answer(Request request, Outcome outcome) {
		Entry entry = entry(request);
		Entry before = (entry != Entry.NONE) ? this.data.before(entry) : Entry.NONE;
		boolean first = entry != Entry.NONE && before == Entry.NONE;
		return new Answer(outcome, entry.brief(), first, before.name(), guard(request), 0, 0).about(request.type());
	}

	// what happens by itself

	/** A lease ends, and with it its guard and its entries. */
	void end(int id) {
		this.data.removeLease(id);
		delete((entry) -> entry.lease() == id);
	}

	void deleteByHand(int number) {
		delete(this.data.entries().get(number)::equals);
	}

	private void delete(Predicate<Entry> which) {
		this.data.remove(which).forEach(this::tellWatchers);
	}

	private void tellWatchers(Entry gone) {
		for (int i = 0; i < this.watched.length; i++) {
			if (this.watched[i] == gone.instance() && this.scenario.lock(i) == gone.lock()) {
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
		this.data.tick();
	}

	@Override
	public String toString() {
		return this.data + ((this.term > 0) ? ", term " + this.term : "")
				+ (this.backedUp ? ", backup of " + this.backup : "") + ((this.past > 0) ? ", restored" : "");
	}

}
