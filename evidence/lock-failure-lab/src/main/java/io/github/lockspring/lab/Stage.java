package io.github.lockspring.lab;

import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

import io.github.lockspring.lab.history.History;
import io.github.lockspring.lab.history.LabEvent;
import io.github.lockspring.lab.server.LabServers;
import io.github.lockspring.lab.server.NetworkProxy.Direction;
import io.github.lockspring.lab.server.NetworkProxy;
import io.github.lockspring.lab.server.RedisNode;
import io.github.lockspring.lab.worker.Worker;

/**
 * The shops and servers of a run, in the hands of a fault. The first shop is the one that
 * faults strike. Used by one thread.
 */
final class Stage {

	/** A shop gets its turn within this time. */
	static final long TURN_MILLIS = 4_000;

	/**
	 * A script that takes longer does not wait any more, so that the run ends in time.
	 */
	static final long MAX_MILLIS = 11_000;

	private final long begin = System.nanoTime();

	private final RecipeInfo recipe;

	private final List<Worker> workers;

	private final LabServers servers;

	private final History history;

	private final long maxMillis;

	Stage(RecipeInfo recipe, List<Worker> workers, LabServers servers, History history, long maxMillis) {
		this.maxMillis = maxMillis;
		this.recipe = recipe;
		this.workers = workers;
		this.servers = servers;
		this.history = history;
	}

	RecipeInfo.StrikePoints points() {
		return this.recipe.points();
	}

	LabServers servers() {
		return this.servers;
	}

	int shops() {
		return this.workers.size();
	}

	/** Begins the sale in all shops. */
	void open() {
		for (int shop = 1; shop <= shops(); shop++) {
			order(shop, "sell", Map.of());
		}
	}

	/** Gives the first shop its turn, and holds it when it reaches a point. */
	void holdFirstAt(String point) throws InterruptedException {
		holdOthers();
		holdFirstAlone(point);
		letOthersGo();
	}

	/** The same, where the others are held already. They stay so. */
	void holdFirstAlone(String point) throws InterruptedException {
		int from = arm(1, point);
		if (!awaitHeld(1, point, from, TURN_MILLIS)) {
			throw new IllegalStateException(
					"Shop 1 did not get to '" + point + "' within " + TURN_MILLIS + " ms. Is this machine very busy?");
		}
	}

	/** Holds a shop when it reaches a point. Does not wait. */
	int arm(int shop, String point) {
		int from = this.history.size();
		order(shop, "arm", Map.of("point", point));
		return from;
	}

	boolean awaitHeld(int shop, String point, int from, long millis) throws InterruptedException {
		return this.history.await(from,
				(event) -> event.is("note") && event.lane().equals(name(shop)) && event.text("point").equals(point),
				millis);
	}

	/** Lets a shop go on from a point. */
	void letGo(int shop, String point) {
		order(shop, "go", Map.of("point", point));
	}

	/** Lets the other shops finish what they do, and holds them before they ask again. */
	void holdOthers() throws InterruptedException {
		int from = this.history.size();
		for (int shop = 2; shop <= shops(); shop++) {
			arm(shop, "asking");
		}
		for (int shop = 2; shop <= shops(); shop++) {
			awaitHeld(shop, "asking", from, TURN_MILLIS);
		}
	}

	void letOthersGo() {
		for (int shop = 2; shop <= shops(); shop++) {
			letGo(shop, "asking");
		}
	}

	/** Waits until another shop than the first one does something. */
	boolean awaitOther(String type, int from, long millis) throws InterruptedException {
		Predicate<LabEvent> other = (event) -> event.is(type) && !event.lane().equals(name(1))
				&& event.lane().startsWith("shop");
		return this.history.await(from, other, bounded(millis));
	}

	boolean awaitShop(int shop, String type, int from, long millis) throws InterruptedException {
		return this.history.await(from, (event) -> event.is(type) && event.lane().equals(name(shop)), bounded(millis));
	}

	/** Returns a position in the history, to wait for what comes after it. */
	int now() {
		return this.history.size();
	}

	void stop(int shop) {
		this.workers.get(shop - 1).stop();
		report(name(shop), "stopped", "SIGSTOP: nothing in this process runs");
	}

	void resume(int shop) {
		report(name(shop), "continued", "SIGCONT: the process goes on where it was");
		this.workers.get(shop - 1).resume();
	}

	void kill(int shop) {
		report(name(shop), "killed", "SIGKILL");
		this.workers.get(shop - 1).kill();
	}

	void kill(RedisNode node) {
		node.kill();
		report(node.id(), "killed", "SIGKILL");
	}

	void restart(RedisNode node) {
		node.restart();
		report(node.id(), "started", "Started again, without its data");
	}

	void hold(int shop, Direction... directions) {
		this.servers.networks(shop).forEach((network) -> network.hold(directions));
		report("network", (directions.length > 1) ? "cut" : "delayed",
				(directions.length > 1) ? "Nothing passes between " + name(shop) + " and Redis"
						: (directions[0] == Direction.TO_CLIENT ? "Answers to " : "Commands of ") + name(shop)
								+ " are delayed");
	}

	void heal(int shop) {
		report("network", "healed", "What was held back between " + name(shop) + " and Redis arrives");
		this.servers.networks(shop).forEach(NetworkProxy::heal);
	}

	void order(int shop, String order, Map<String, ?> details) {
		this.workers.get(shop - 1).order(order, details);
	}

	void pause(long millis) throws InterruptedException {
		Thread.sleep(bounded(millis));
	}

	private long bounded(long millis) {
		long left = this.maxMillis - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - this.begin);
		return Math.max(0, Math.min(millis, left));
	}

	void report(String lane, String type, String text) {
		this.history.add(lane, type, System.nanoTime(), Map.of("text", text));
	}

	static String name(int shop) {
		return "shop-" + shop;
	}

}
