package io.github.lockspring.model.zookeeper;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.function.Predicate;

import io.github.lockspring.model.Cells;
import io.github.lockspring.model.zookeeper.Request.Type;

/**
 * The queue of one lock in ZooKeeper: the leader, and what the servers of the instances
 * show, which may be earlier.
 */
final class Server {

	private final Scenario scenario;

	private List<Session> sessions = new ArrayList<>();

	/** In the order of their creation. */
	private List<Node> nodes = new ArrayList<>();

	/** What the server of each instance shows. */
	private final List<List<Node>> views = new ArrayList<>();

	/** Which node each instance watches, by its creation; 0: none. */
	private final int[] watched;

	private final boolean[] notified;

	Server(Scenario scenario) {
		this.scenario = scenario;
		this.watched = new int[scenario.instances()];
		this.notified = new boolean[scenario.instances()];
		for (int i = 0; i < scenario.instances(); i++) {
			this.views.add(new ArrayList<>());
		}
	}

	void pass(Cells cells) {
		this.sessions = cells.pass(this.sessions, (passed, session) -> session.pass(passed), Session.NONE);
		this.nodes = cells.pass(this.nodes, (passed, node) -> node.pass(passed), Node.NONE);
		this.views.replaceAll((view) -> cells.pass(view, (passed, node) -> node.pass(passed), Node.NONE));
		for (int i = 0; i < this.watched.length; i++) {
			this.watched[i] = cells.pass(this.watched[i]);
			this.notified[i] = cells.pass(this.notified[i]);
		}
	}

	void rename(Names names) {
		this.nodes.replaceAll((node) -> node.renamed(names));
		this.views.forEach((view) -> view.replaceAll((node) -> node.renamed(names)));
		for (int i = 0; i < this.watched.length; i++) {
			this.watched[i] = names.zxid(this.watched[i]);
		}
	}

	void renameSessions(Names names) {
		this.sessions.replaceAll((session) -> session.renamed(names));
	}

	/** Forgets sessions that nobody will name. */
	void forgetSessions(IntPredicate which) {
		this.sessions.removeIf((session) -> which.test(session.id()));
	}

	List<Session> sessions() {
		return this.sessions;
	}

	List<Node> nodes() {
		return this.nodes;
	}

	boolean hasSession(int id) {
		return this.sessions.stream().anyMatch((session) -> session.id() == id);
	}

	boolean hasNode(int zxid) {
		return this.nodes.stream().anyMatch((node) -> node.zxid() == zxid);
	}

	// requests

	/** Carries a request out, and returns the call with its answer. */
	Call execute(Call call) {
		Request request = call.request();
		Node before = byZxid(this.nodes, request.zxid());
		execute(request);
		if (request.type() == Type.REMOVE || request.type() == Type.CHECK) {
			return call.answered(before, false);
		}
		List<Node> view = this.views.get(request.instance());
		Node own = own(request, view);
		return call.answered(own, own != Node.NONE && view.indexOf(own) == 0);
	}

	/** Carries a request out: a write takes the instance's server with it. */
	void execute(Request request) {
		this.sessions
			.replaceAll((session) -> (session.id() == request.session()) ? session.heard(this.scenario) : session);
		switch (request.type()) {
			case ADD -> {
				this.nodes.add(new Node(request.instance(), request.token(), Names.NEW_ZXID, request.session()));
				catchUp(request.instance());
			}
			case REMOVE -> {
				delete((node) -> node.zxid() == request.zxid());
				catchUp(request.instance());
			}
			case CHECK -> catchUp(request.instance());
			case FIND -> {
				if (this.scenario.has(Rule.SYNC)) {
					catchUp(request.instance());
				}
			}
			case PLACE -> {
			}
		}
		if (request.type() == Type.ADD || request.type() == Type.PLACE || request.type() == Type.FIND) {
			watch(request);
		}
	}

	/** Carries a request out that came through a former connection. */
	void executeUnseen(Request request) {
		List<Node> view = this.views.get(request.instance());
		execute(request);
		this.views.set(request.instance(), view);
	}

	private Node own(Request request, List<Node> view) {
		if (request.type() == Type.PLACE) {
			return byZxid(view, request.zxid());
		}
		Node own = Node.NONE;
		for (Node node : view) {
			boolean ours = node.session() == request.session() || !this.scenario.has(Rule.NODE_OF_PRESENT_SESSION);
			if (node.instance() == request.instance() && node.token() == request.token() && ours
					&& (own == Node.NONE || request.type() == Type.ADD)) {
				own = node;
			}
		}
		return own;
	}

	private static Node byZxid(List<Node> view, int zxid) {
		return view.stream().filter((node) -> node.zxid() == zxid).findFirst().orElse(Node.NONE);
	}

	/** {@code exists} on the node before: one that is gone already is told at once. */
	private void watch(Request request) {
		List<Node> view = this.views.get(request.instance());
		int place = view.indexOf(own(request, view));
		if (place > 0) {
			int before = view.get(place - 1).zxid();
			this.watched[request.instance()] = hasNode(before) ? before : 0;
			this.notified[request.instance()] |= !hasNode(before);
		}
	}

	// sessions

	void begin(int instance) {
		this.sessions.add(new Session(Names.newSession(instance), this.scenario.timeout(), -1));
	}

	/** A client has connected again: the leader hears of it at once. */
	void reconnect(int id) {
		this.sessions.replaceAll((session) -> (session.id() == id) ? session.reported(this.scenario) : session);
	}

	void report(int place) {
		this.sessions.set(place, this.sessions.get(place).reported(this.scenario));
	}

	/** The server of a session dies with what it has heard. */
	void die(int id) {
		this.sessions.replaceAll((session) -> (session.id() == id) ? session.withoutReport() : session);
	}

	boolean isReportDue() {
		return this.sessions.stream().anyMatch(Session::isReportDue);
	}

	void end(int place) {
		int id = this.sessions.remove(place).id();
		delete((node) -> node.session() == id);
	}

	// nodes and watches

	boolean isBehind(int instance) {
		return !this.views.get(instance).equals(this.nodes);
	}

	void catchUp(int instance) {
		this.views.set(instance, new ArrayList<>(this.nodes));
	}

	void deleteByHand(int place) {
		Node deleted = this.nodes.get(place);
		delete(deleted::equals);
	}

	private void delete(Predicate<Node> which) {
		for (Node node : List.copyOf(this.nodes)) {
			if (which.test(node)) {
				this.nodes.remove(node);
				for (int i = 0; i < this.watched.length; i++) {
					this.notified[i] |= this.watched[i] == node.zxid();
					this.watched[i] = (this.watched[i] == node.zxid()) ? 0 : this.watched[i];
				}
			}
		}
	}

	boolean isNotified(int watcher) {
		return this.notified[watcher];
	}

	boolean isWatching(int watcher) {
		return this.notified[watcher] || this.watched[watcher] != 0;
	}

	void endWatch(int watcher) {
		this.watched[watcher] = 0;
		this.notified[watcher] = false;
	}

	void tick() {
		this.sessions.replaceAll(Session::older);
	}

	@Override
	public String toString() {
		return "queue " + this.nodes + ", sessions " + this.sessions;
	}

}
