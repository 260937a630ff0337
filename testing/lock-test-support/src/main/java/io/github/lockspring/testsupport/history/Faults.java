package io.github.lockspring.testsupport.history;

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
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

import io.github.lockspring.testsupport.history.Fleet.Member;
import io.github.lockspring.testsupport.network.TcpProxy.Cut;
import io.github.lockspring.testsupport.network.TcpProxy.Direction;
import io.github.lockspring.testsupport.network.TcpProxy;

/**
 * Makes faults, one after the other or two at a time, at random.
 *
 * @since 0.1
 */
public final class Faults {

	/**
	 * A fault that was made.
	 *
	 * @param kind its kind
	 * @param target what it happened to
	 * @param from before it began
	 * @param to after its end
	 */
	record Made(Fault kind, String target, long from, long to) {
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

	Map<String, Integer> counts() {
		Map<String, Integer> counts = new TreeMap<>();
		this.made.forEach((fault) -> counts.merge(fault.kind().name(), 1, Integer::sum));
		return counts;
	}

	/**
	 * Makes faults for some time, and of each kind at least one; afterwards everything
	 * runs again.
	 * @param kinds the kinds to choose from
	 * @param duration how long; the last fault may end a few seconds later
	 * @param shards how many at a time
	 */
	public void make(Collection<? extends Fault> kinds, Duration duration, int shards) throws Exception {
		long end = System.nanoTime() + duration.toNanos();
		List<String> names = kinds.stream().map(Fault::name).toList();
		List<Callable<Void>> tasks = new ArrayList<>();
		for (int i = 0; i < shards; i++) {
			SplittableRandom own = this.random.split();
			tasks.add(() -> {
				makeUntil(() -> System.nanoTime() - end >= 0 && counts().keySet().containsAll(names),
						List.copyOf(kinds), own);
				return null;
			});
		}
		runAll(tasks);
	}

	/**
	 * Makes some faults of servers in turn, and others at random meanwhile; afterwards
	 * everything runs again.
	 * @param inTurn the kinds of which each comes as often as each other, beginning with
	 * any of them
	 * @param rounds how many of them
	 * @param beside those that are made meanwhile
	 */
	public void makeInTurn(List<? extends Fault> inTurn, int rounds, Collection<? extends Fault> beside)
			throws Exception {
		AtomicBoolean over = new AtomicBoolean();
		SplittableRandom one = this.random.split();
		SplittableRandom other = this.random.split();
		int first = one.nextInt(inTurn.size());
		runAll(List.of(() -> {
			try {
				for (int i = 0; i < rounds; i++) {
					pause(one, SHORTEST_GAP, 2 * LONGEST_GAP);
					make(inTurn.get((first + i) % inTurn.size()), this.fleet.members.get(0), one);
				}
			}
			finally {
				over.set(true);
			}
			return null;
		}, () -> {
			makeUntil(over::get, List.copyOf(beside), other);
			return null;
		}));
	}

	private static void runAll(List<Callable<Void>> tasks) throws Exception {
		ExecutorService executor = Executors.newFixedThreadPool(tasks.size());
		try {
			for (Future<Void> task : executor.invokeAll(tasks)) {
				task.get();
			}
		}
		finally {
			executor.shutdownNow();
		}
	}

	private void makeUntil(BooleanSupplier over, List<? extends Fault> kinds, SplittableRandom random)
			throws Exception {
		List<Fault> deck = new ArrayList<>();
		while (!over.getAsBoolean()) {
			Thread.sleep(random.nextInt(SHORTEST_GAP, LONGEST_GAP));
			// as from a pack of cards, so that a short run has of each kind
			if (deck.isEmpty()) {
				deck.addAll(kinds);
			}
			Fault kind = deck.remove(random.nextInt(deck.size()));
			Member member = this.fleet.members.get(random.nextInt(this.fleet.members.size()));
			make(kind, member, random);
		}
	}

	/** Unless something is happening to the member or the servers already. */
	private void make(Fault kind, Member member, SplittableRandom random) throws InterruptedException {
		ReentrantLock lock = (kind instanceof WorkerFault) ? member.lock : this.fleet.serversLock;
		if (lock.tryLock()) {
			try {
				long from = System.nanoTime();
				String target = "servers";
				if (kind instanceof WorkerFault onWorker) {
					target = member.worker.name();
					makeOn(member, onWorker, random);
				}
				else {
					this.fleet.servers.make(kind, random, this.fleet.losses);
				}
				this.made.add(new Made(kind, target, from, System.nanoTime()));
			}
			finally {
				lock.unlock();
			}
		}
	}

	private void makeOn(Member member, WorkerFault kind, SplittableRandom random) throws InterruptedException {
		List<TcpProxy> proxies = some(member.way.proxies(), random);
		Direction[] directions = directions(random);
		Runnable restore = () -> proxies.forEach(TcpProxy::restore);
		switch (kind) {
			case WORKER_KILLED -> {
				member.worker.close();
				pause(random, 0, 1000);
				member.start().await(HistoryWorker.READY);
			}
			case WORKER_STOPPED ->
				during(random, 300, 3500, () -> member.worker.signal("STOP"), () -> member.worker.signal("CONT"));
			case CONNECTIONS_CUT -> cut(proxies, random);
			case CONNECTIONS_REFUSED -> during(random, 100, 2000, () -> {
				proxies.forEach(TcpProxy::refuse);
				cut(proxies, random);
			}, restore);
			case BYTES_LOST ->
				during(random, 50, 2000, () -> proxies.forEach((proxy) -> proxy.stall(directions)), restore);
			case BYTES_LATE ->
				during(random, 50, 2500, () -> proxies.forEach((proxy) -> proxy.hold(directions)), restore);
		}
	}

	/** One of several connections may fail, or some, or all. */
	private static List<TcpProxy> some(List<TcpProxy> proxies, SplittableRandom random) {
		List<TcpProxy> some = new ArrayList<>(proxies);
		while (some.size() > 1 && random.nextInt(3) > 0) {
			some.remove(random.nextInt(some.size()));
		}
		return some;
	}

	private static void cut(List<TcpProxy> proxies, SplittableRandom random) {
		Cut how = random.nextBoolean() ? Cut.FIN : Cut.RST;
		proxies.forEach((proxy) -> proxy.cut(how));
	}

	private static Direction[] directions(SplittableRandom random) {
		return switch (random.nextInt(3)) {
			case 0 -> new Direction[] { Direction.TO_SERVER };
			case 1 -> new Direction[] { Direction.TO_CLIENT };
			default -> Direction.values();
		};
	}

	/** Begins something, and ends it after some milliseconds. */
	public static void during(SplittableRandom random, int least, int most, Runnable begin, Runnable end)
			throws InterruptedException {
		begin.run();
		pause(random, least, most);
		end.run();
	}

	/** Waits for some milliseconds. */
	public static void pause(SplittableRandom random, int least, int most) throws InterruptedException {
		Thread.sleep(random.nextInt(least, most));
	}

}
