package io.github.lockspring.lab;

import java.util.List;
import java.util.Map;

import io.github.lockspring.lab.server.NetworkProxy.Direction;
import io.github.lockspring.lab.server.NetworkProxy;
import io.github.lockspring.lab.server.RedisNode;

/**
 * How the faults are made. Each script strikes at a named point in the course of the
 * first shop, waits for what the others do about it, and lets the first shop go on.
 */
final class FaultScripts {

	/** Longer than a lease and the time after which a lock counts as stuck. */
	static final long LONG_MILLIS = 2_600;

	private static final long SHORT_MILLIS = 700;

	private static final String PAYING = "paying";

	private static final String ASKING = "asking";

	private static final long JUNK_BYTES = 200_000;

	private FaultScripts() {
	}

	static void none(Stage stage) throws InterruptedException {
		stage.pause(1_000);
	}

	static void killed(Stage stage) throws InterruptedException {
		stage.holdFirstAt(stage.points().kill());
		stage.kill(1);
		stage.pause(LONG_MILLIS);
	}

	static void stopped(Stage stage) throws InterruptedException {
		stage.holdFirstAt(PAYING);
		int from = stage.now();
		stage.stop(1);
		stage.letGo(1, PAYING);
		awaitSaleOfOther(stage, from);
		stage.resume(1);
	}

	static void renewalStarved(Stage stage) throws InterruptedException {
		stage.holdFirstAt(PAYING);
		int from = stage.now();
		stage.arm(1, stage.points().renewing());
		stage.awaitHeld(1, stage.points().renewing(), from, Stage.TURN_MILLIS);
		awaitSaleOfOther(stage, from);
		stage.letGo(1, PAYING);
		stage.awaitShop(1, "sold", from, 300);
		stage.letGo(1, stage.points().renewing());
	}

	static void answerLost(Stage stage) throws InterruptedException {
		stage.holdOthers();
		stage.holdFirstAlone(stage.points().acquiring());
		stage.servers().networks(1).forEach(NetworkProxy::loseNextAnswer);
		stage.report("network", "cut",
				"Shop 1's connection breaks when Redis has executed its command, before the answer arrives");
		stage.letGo(1, stage.points().acquiring());
		stage.pause(50);
		stage.letOthersGo();
		stage.pause(LONG_MILLIS);
	}

	static void cut(Stage stage) throws InterruptedException {
		stage.holdFirstAt(PAYING);
		int from = stage.now();
		stage.hold(1, Direction.values());
		awaitSaleOfOther(stage, from);
		stage.letGo(1, PAYING);
		stage.awaitShop(1, "sold", stage.now(), 300);
		stage.heal(1);
	}

	/** The answer arrives when another shop is inside. */
	static void answersDelayed(Stage stage) throws InterruptedException {
		stage.holdOthers();
		stage.holdFirstAlone(stage.points().acquiring());
		stage.hold(1, Direction.TO_CLIENT);
		stage.letGo(1, stage.points().acquiring());
		stage.pause(50);
		int from = stage.arm(2, PAYING);
		stage.letOthersGo();
		stage.awaitHeld(2, PAYING, from, LONG_MILLIS);
		from = stage.now();
		stage.heal(1);
		stage.awaitShop(1, "sold", from, 400);
		stage.letGo(2, PAYING);
	}

	static void redisKilled(Stage stage) throws InterruptedException {
		RedisNode node = stage.servers().nodes().get(0);
		stage.kill(node);
		stage.pause(LONG_MILLIS);
		stage.restart(node);
	}

	static void redisRestarted(Stage stage) throws InterruptedException {
		stage.holdFirstAt(PAYING);
		int from = stage.now();
		RedisNode node = stage.servers().nodes().get(0);
		stage.kill(node);
		stage.restart(node);
		awaitSaleOfOther(stage, from);
		stage.letGo(1, PAYING);
	}

	/** Writes other keys until Redis evicts the lock, and another shop takes it. */
	static void evicted(Stage stage) throws InterruptedException {
		stage.holdFirstAt(PAYING);
		int from = stage.now();
		RedisNode node = stage.servers().nodes().get(0);
		node.call("CONFIG", "SET", "maxmemory-policy", "allkeys-random");
		node.call("CONFIG", "SET", "maxmemory", "8mb");
		stage.report(node.id(), "note", "Out of memory, with maxmemory-policy allkeys-random");
		String junk = "x".repeat((int) JUNK_BYTES);
		for (int i = 0; i < 2_000 && !stage.awaitOther("acquired", from, 1); i++) {
			node.call("SET", "report:" + i, junk);
		}
		node.call("CONFIG", "SET", "maxmemory", "0");
		awaitSaleOfOther(stage, from);
		stage.letGo(1, PAYING);
	}

	static void replicaPromoted(Stage stage) throws InterruptedException {
		stage.holdOthers();
		stage.holdFirstAlone(ASKING);
		stage.servers().cutReplication();
		stage.report("network", "cut", "Nothing passes between the master and its replica");
		int from = stage.arm(1, PAYING);
		stage.letGo(1, ASKING);
		stage.awaitHeld(1, PAYING, from, 1_200);
		List<RedisNode> nodes = stage.servers().nodes();
		from = stage.now();
		stage.kill(nodes.get(0));
		stage.servers().promoteReplica();
		stage.report(nodes.get(1).id(), "promoted",
				"The replica is the master now; the old one comes back as its replica");
		stage.letOthersGo();
		awaitSaleOfOther(stage, from);
		stage.letGo(1, PAYING);
	}

	static void replicaCut(Stage stage) throws InterruptedException {
		stage.servers().cutReplication();
		stage.report("network", "cut", "Nothing passes between the master and its replica");
		stage.pause(LONG_MILLIS);
		stage.servers().healReplication();
		stage.report("network", "healed", "The replica hears of the master again");
		stage.pause(1_000);
	}

	/** Shop 1 has the votes of the nodes 1, 2 and 3, and 3 forgets. */
	static void nodeRestarted(Stage stage) throws InterruptedException {
		stage.holdOthers();
		stage.holdFirstAlone(ASKING);
		List<NetworkProxy> unreachable = stage.servers().networks(1).subList(3, 5);
		unreachable.forEach(NetworkProxy::refuse);
		stage.report("network", "cut", "Shop 1 cannot reach Redis 4 and Redis 5");
		int from = stage.arm(1, PAYING);
		stage.letGo(1, ASKING);
		stage.awaitHeld(1, PAYING, from, Stage.TURN_MILLIS);
		RedisNode node = stage.servers().nodes().get(2);
		stage.kill(node);
		stage.restart(node);
		from = stage.now();
		stage.letOthersGo();
		stage.awaitOther("sold", from, 700);
		stage.letGo(1, PAYING);
		stage.awaitShop(1, "sold", from, 500);
		stage.heal(1);
		stage.pause(1_000);
	}

	static void clockJump(Stage stage) throws InterruptedException {
		stage.holdFirstAt(PAYING);
		int from = stage.now();
		stage.order(2, "clock", Map.of("millis", 60_000));
		stage.report(Stage.name(2), "clock", "The clock of this process is a minute ahead");
		// not as long as a lease, which would end whatever the clock says
		stage.awaitOther("sold", from, SHORT_MILLIS);
		stage.letGo(1, PAYING);
	}

	static void workOutlasts(Stage stage) throws InterruptedException {
		stage.holdFirstAt(PAYING);
		int from = stage.now();
		stage.report(Stage.name(1), "note", "This customer takes long to pay");
		awaitSaleOfOther(stage, from);
		stage.letGo(1, PAYING);
	}

	static void workFails(Stage stage) throws InterruptedException {
		int from = stage.now();
		stage.order(1, "fail", Map.of());
		stage.awaitShop(1, "failed", from, Stage.TURN_MILLIS);
		stage.pause(LONG_MILLIS);
	}

	/** The command that frees the lock arrives when another shop is inside. */
	static void releaseLate(Stage stage) throws InterruptedException {
		stage.holdFirstAt(stage.points().releasing());
		stage.hold(1, Direction.TO_SERVER);
		int from = stage.arm(2, PAYING);
		stage.letGo(1, stage.points().releasing());
		stage.awaitHeld(2, PAYING, from, LONG_MILLIS);
		from = stage.now();
		stage.heal(1);
		stage.awaitShop(1, "sold", from, 600);
		stage.letGo(2, PAYING);
	}

	/** Waits for a sale of another shop, and in all for as long as the fault lasts. */
	private static void awaitSaleOfOther(Stage stage, int from) throws InterruptedException {
		long begin = System.nanoTime();
		stage.awaitOther("sold", from, LONG_MILLIS);
		long left = LONG_MILLIS - (System.nanoTime() - begin) / 1_000_000;
		stage.pause(Math.max(0, left));
	}

}
