package io.github.lockspring.history;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.ReentrantLock;

import io.github.lockspring.history.Fleet.Member;
import io.github.lockspring.testsupport.RedisServer;
import io.github.lockspring.testsupport.TcpProxy;
import io.github.lockspring.testsupport.TcpProxy.Cut;
import io.github.lockspring.testsupport.TcpProxy.Direction;

/**
 * Makes faults, one after the other or two at a time, at random.
 */
final class Faults {

	/**
	 * A fault that was made.
	 *
	 * @param kind its kind
	 * @param target what it happened to
	 * @param from before it began
	 * @param to after its end
	 */
	record Made(FaultKind kind, String target, long from, long to) {
	}

	private static final int SHORTEST_GAP = 100;

	private static final int LONGEST_GAP = 600;

	private final Fleet fleet;

	private final SplittableRandom random;

	private final ConcurrentLinkedQueue<Made> made = new ConcurrentLinkedQueue<>();

	Faults(Fleet fleet, long seed) {
		this.fleet = fleet;
		this.random = new SplittableRandom(seed);
	}

	List<Made> made() {
		return new ArrayList<>(this.made);
	}

	Map<FaultKind, Integer> counts() {
		Map<FaultKind, Integer> counts = new TreeMap<>();
		this.made.forEach((fault) -> counts.merge(fault.kind(), 1, Integer::sum));
		return counts;
	}

	/**
	 * Makes faults for some time; afterwards everything runs again.
	 * @param kinds the kinds to choose from
	 * @param duration how long; the last fault may end a few seconds later
	 * @param lanes how many at a time
	 */
	void make(Collection<FaultKind> kinds, Duration duration, int lanes) throws Exception {
		long end = System.nanoTime() + duration.toNanos();
		ExecutorService executor = Executors.newFixedThreadPool(lanes);
		try {
			List<Callable<Void>> tasks = new ArrayList<>();
			for (int i = 0; i < lanes; i++) {
				SplittableRandom own = this.random.split();
				tasks.add(() -> {
					makeUntil(end, List.copyOf(kinds), own);
					return null;
				});
			}
			for (Future<Void> task : executor.invokeAll(tasks)) {
				task.get();
			}
		}
		finally {
			executor.shutdownNow();
		}
	}

	private void makeUntil(long end, List<FaultKind> kinds, SplittableRandom random) throws Exception {
		List<FaultKind> deck = new ArrayList<>();
		while (System.nanoTime() - end < 0) {
			Thread.sleep(random.nextInt(SHORTEST_GAP, LONGEST_GAP));
			// as from a pack of cards, so that a short run has of each kind
			if (deck.isEmpty()) {
				deck.addAll(kinds);
			}
			FaultKind kind = deck.remove(random.nextInt(deck.size()));
			Member member = this.fleet.members.get(random.nextInt(this.fleet.members.size()));
			boolean onMember = kind.compareTo(FaultKind.BYTES_LATE) <= 0;
			ReentrantLock lock = onMember ? member.lock : this.fleet.serverLock;
			if (lock.tryLock()) {
				try {
					long from = System.nanoTime();
					if (onMember) {
						make(kind, member, random);
					}
					else {
						make(kind, random);
					}
					this.made.add(new Made(kind, onMember ? member.worker.name() : "server", from, System.nanoTime()));
				}
				finally {
					lock.unlock();
				}
			}
		}
	}

	private void make(FaultKind kind, Member member, SplittableRandom random) throws InterruptedException {
		TcpProxy proxy = member.proxy;
		switch (kind) {
			case WORKER_KILLED -> {
				member.worker.close();
				pause(random, 0, 1000);
				member.start().await(HistoryWorker.READY);
			}
			case WORKER_STOPPED -> {
				member.worker.signal("STOP");
				pause(random, 300, 3500);
				member.worker.signal("CONT");
			}
			case CONNECTIONS_CUT -> proxy.cut(random.nextBoolean() ? Cut.FIN : Cut.RST);
			case CONNECTIONS_REFUSED -> {
				proxy.refuse();
				proxy.cut(random.nextBoolean() ? Cut.FIN : Cut.RST);
				pause(random, 100, 2000);
				proxy.restore();
			}
			case BYTES_LOST -> {
				proxy.stall(directions(random));
				pause(random, 50, 2000);
				proxy.restore();
			}
			case BYTES_LATE -> {
				proxy.hold(directions(random));
				pause(random, 50, 2500);
				proxy.restore();
			}
			default -> throw new IllegalArgumentException(kind.name());
		}
	}

	private void make(FaultKind kind, SplittableRandom random) throws InterruptedException {
		RedisServer server = this.fleet.server;
		switch (kind) {
			case CLIENTS_KILLED -> server.command("CLIENT", "KILL", "TYPE", "normal");
			case SUBSCRIBERS_KILLED -> server.command("CLIENT", "KILL", "TYPE", "pubsub");
			case SCRIPTS_FLUSHED -> server.command("SCRIPT", "FLUSH");
			case DATA_FLUSHED -> losesData(server::flushAll);
			case SERVER_RESTARTED_EMPTY -> {
				losesData(server::kill);
				if (random.nextBoolean()) {
					pause(random, 0, 1500);
				}
				server.restart();
			}
			case SERVER_STOPPED -> {
				server.pause();
				pause(random, 100, 3000);
				server.resume();
			}
			default -> throw new IllegalArgumentException(kind.name());
		}
	}

	private void losesData(Runnable how) {
		long from = System.nanoTime();
		how.run();
		this.fleet.losses.add(new DataLoss(from, System.nanoTime()));
	}

	private static Direction[] directions(SplittableRandom random) {
		return switch (random.nextInt(3)) {
			case 0 -> new Direction[] { Direction.TO_SERVER };
			case 1 -> new Direction[] { Direction.TO_CLIENT };
			default -> Direction.values();
		};
	}

	private static void pause(SplittableRandom random, int least, int most) throws InterruptedException {
		Thread.sleep(random.nextInt(least, most));
	}

}
