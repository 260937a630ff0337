package io.github.lockspring.failure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.failure.Contender.Contest;
import io.github.lockspring.redis.Instance;
import io.github.lockspring.testsupport.history.EventLog;
import io.github.lockspring.testsupport.history.Pulse;
import io.github.lockspring.testsupport.history.RecordedEvents;
import io.github.lockspring.testsupport.network.TcpProxy.Cut;
import io.github.lockspring.testsupport.network.TcpProxy;
import io.github.lockspring.testsupport.process.JavaProcess;
import io.github.lockspring.testsupport.redis.RedisServer;
import org.jspecify.annotations.Nullable;

import static org.awaitility.Awaitility.await;

/**
 * Instances that contend for the same locks on a real server all the time, and what is
 * done to one of them after the other.
 */
final class Arena implements AutoCloseable {

	/** The name under which the test's own process is late. */
	static final String TEST = "test";

	private static final Duration PATIENCE = Duration.ofMinutes(3);

	private static final int SPARES = 2;

	/** What is done to a waiter. */
	enum Fault {

		/** SIGKILL; another process takes its place. */
		KILLED(true),
		/** SIGSTOP for longer than a grant, then SIGCONT. */
		STOPPED(true),
		/** SIGSTOP for longer than a grant, then SIGKILL. */
		STOPPED_AND_KILLED(true),
		/** All its connections end. */
		CUT(true),
		/**
		 * Nothing gets through in either direction, while connections seem to be open.
		 */
		SILENCED(true),
		/** The connection for messages ends. */
		INBOX_CUT(false),
		/** Messages are lost, while commands and their answers get through. */
		MESSAGES_LOST(false);

		/** Whether the instance cannot give back what it holds or is granted. */
		private final boolean wholeInstance;

		Fault(boolean wholeInstance) {
			this.wholeInstance = wholeInstance;
		}

		boolean isOfWholeInstance() {
			return this.wholeInstance;
		}

	}

	/** When it is done. */
	enum Moment {

		ANY, FIRST_IN_QUEUE, BEING_GRANTED

	}

	/**
	 * One round.
	 *
	 * @param fault what was done
	 * @param moment when
	 * @param victim the worker it was done to
	 * @param successor the worker that is there afterwards
	 * @param from before it was done
	 * @param to after it was ended
	 * @param over when a grant to the successor was seen for each lock
	 * @param scripts the scripts that the server ran in the round
	 * @param messages the messages that it published
	 * @param grants the hand-overs among them
	 * @param length of the time in which these were counted, in nanoseconds
	 */
	record Round(Fault fault, Moment moment, String victim, String successor, long from, long to, long over,
			long scripts, long messages, int grants, long length) {
	}

	final RedisServer server = RedisServer.start();

	final List<Round> rounds = new ArrayList<>();

	final Contest contest;

	private final Path directory;

	private final SplittableRandom random;

	private final List<Competitor> competitors = new ArrayList<>();

	private final Map<String, Path> files = new LinkedHashMap<>();

	private final BlockingQueue<Competitor> spares = new ArrayBlockingQueue<>(SPARES);

	private final GrantWatch watch;

	private final EventLog events;

	private final Pulse pulse;

	private @Nullable Thread starter;

	private int numbers;

	private volatile boolean closing;

	private Arena(Contest contest, Path directory, long seed) throws IOException {
		this.contest = contest;
		this.directory = directory;
		this.random = new SplittableRandom(seed);
		Files.createDirectories(directory);
		this.watch = new GrantWatch(this.server);
		this.events = new EventLog(file(TEST));
		this.pulse = new Pulse(this.events, () -> this.server.command("PING"));
	}

	/** Instances in this process, each behind a proxy. */
	static Arena ofInstances(int count, Contest contest, Path directory, long seed) throws IOException {
		Arena arena = new Arena(contest, directory, seed);
		for (int i = 0; i < count; i++) {
			arena.competitors.add(arena.new Inside());
		}
		arena.competitors.forEach(Competitor::begin);
		return arena;
	}

	/** Instances in processes of their own. */
	static Arena ofProcesses(int count, Contest contest, Path directory, long seed) throws IOException {
		Arena arena = new Arena(contest, directory, seed);
		List<Process> processes = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			processes.add(arena.new Process());
		}
		for (Process process : processes) {
			process.awaitReady();
			arena.competitors.add(process);
		}
		arena.competitors.forEach(Competitor::begin);
		return arena;
	}

	/**
	 * From now on processes are started ahead, so that a killed one is replaced at once.
	 */
	void keepSpares() {
		this.starter = new Thread(() -> {
			try {
				while (!this.closing) {
					Process process = new Process();
					process.awaitReady();
					this.spares.put(process);
				}
			}
			catch (IOException ex) {
				throw new IllegalStateException(ex);
			}
			catch (InterruptedException ex) {
				// the arena is closed
			}
		}, "starter");
		this.starter.setDaemon(true);
		this.starter.start();
	}

	private synchronized Path file(String name) throws IOException {
		Path file = this.directory.resolve(name + ".events");
		Files.deleteIfExists(file);
		this.files.put(name, file);
		return file;
	}

	private synchronized int number() {
		return ++this.numbers;
	}

	int size() {
		return this.competitors.size();
	}

	/** Waits until everybody has had each lock. */
	void awaitProgressOfAll() {
		long now = System.nanoTime();
		for (Competitor competitor : this.competitors) {
			awaitProgress(competitor, now);
		}
	}

	private void awaitProgress(Competitor competitor, long since) {
		await("locks for " + competitor.name).atMost(PATIENCE)
			.pollDelay(Duration.ZERO)
			.pollInterval(Duration.ofMillis(2))
			.until(() -> this.contest.keys()
				.stream()
				.allMatch((key) -> this.watch.wasGrantedAfter(competitor.instance, key, since)));
	}

	/** Does something to one of the waiters, and waits until everything is as before. */
	void round(Fault fault) throws Exception {
		long scripts = this.server.calls("evalsha");
		long messages = this.server.calls("publish");
		int grants = this.watch.grants();
		long begin = System.nanoTime();
		TimeUnit.MILLISECONDS.sleep(this.random.nextInt(40));
		Moment moment = Moment.values()[this.random.nextInt(Moment.values().length)];
		Competitor victim = (moment == Moment.FIRST_IN_QUEUE) ? firstInQueue()
				: this.competitors.get(this.random.nextInt(this.competitors.size()));
		CompletableFuture<Long> shot = new CompletableFuture<>();
		Runnable shoot = () -> {
			long from = System.nanoTime();
			try {
				victim.begin(fault);
				shot.complete(from);
			}
			catch (RuntimeException | Error ex) {
				shot.completeExceptionally(ex);
			}
		};
		if (moment == Moment.BEING_GRANTED) {
			this.watch.atNextGrant(victim.instance, shoot);
		}
		else {
			shoot.run();
		}
		long from = shot.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
		TimeUnit.NANOSECONDS.sleep(length(fault));
		Competitor successor = victim.end(fault);
		long to = System.nanoTime();
		this.competitors.set(this.competitors.indexOf(victim), successor);
		awaitProgress(successor, to);
		this.rounds.add(new Round(fault, moment, victim.name, successor.name, from, to, System.nanoTime(),
				this.server.calls("evalsha") - scripts, this.server.calls("publish") - messages,
				this.watch.grants() - grants, System.nanoTime() - begin));
	}

	private long length(Fault fault) {
		double grants = switch (fault) {
			case STOPPED, STOPPED_AND_KILLED -> 1.05 + 0.4 * this.random.nextDouble();
			case SILENCED -> 1.2 * this.random.nextDouble();
			case MESSAGES_LOST -> 0.5 * this.random.nextDouble();
			default -> 0;
		};
		return (long) (grants * this.contest.grant().toNanos());
	}

	private Competitor firstInQueue() {
		List<String> keys = this.contest.keys();
		while (true) {
			String queue = "{lock:" + keys.get(this.random.nextInt(keys.size())) + "}:queue";
			List<?> first = (List<?>) Objects.requireNonNull(this.server.command("ZRANGE", queue, "0", "0"));
			for (Competitor competitor : this.competitors) {
				if (!first.isEmpty() && ((String) first.get(0)).startsWith(competitor.instance + ".")) {
					return competitor;
				}
			}
		}
	}

	/** Lets everybody stop and reads what they wrote. */
	RecordedEvents events() throws IOException {
		this.competitors.forEach(Competitor::close);
		synchronized (this) {
			Map<String, Path> written = new TreeMap<>(this.files);
			// a process may be killed before it has written anything
			written.values().removeIf(Files::notExists);
			return RecordedEvents.read(written);
		}
	}

	@Override
	public void close() throws Exception {
		this.closing = true;
		if (this.starter != null) {
			Competitor spare;
			while (this.starter.isAlive() || !this.spares.isEmpty()) {
				if ((spare = this.spares.poll(10, TimeUnit.MILLISECONDS)) != null) {
					spare.close();
				}
			}
		}
		this.competitors.forEach(Competitor::close);
		this.pulse.close();
		this.watch.close();
		this.events.close();
		this.server.close();
	}

	/** An instance. */
	private abstract class Competitor implements AutoCloseable {

		final int number = number();

		final String name = "contender-" + this.number;

		String instance = "";

		/** The lock by which the test learns who an instance is. */
		final String nameLock = "name:" + this.number;

		final void learnName() {
			String token = Objects.requireNonNull(Arena.this.server.get("lock:" + this.nameLock));
			this.instance = token.substring(0, token.indexOf('.'));
		}

		abstract void begin();

		abstract void begin(Fault fault);

		/** Ends a fault and says who competes from now on. */
		abstract Competitor end(Fault fault) throws Exception;

		@Override
		public abstract void close();

	}

	private final class Process extends Competitor {

		private final JavaProcess process;

		Process() throws IOException {
			this.process = new JavaProcess(this.name, Arena.this.directory, Contender.class,
					List.of(String.valueOf(Arena.this.server.port()), file(this.name).toString(),
							Arena.this.contest.text(), this.nameLock));
		}

		void awaitReady() {
			this.process.await(Contender.READY);
			learnName();
		}

		@Override
		void begin() {
			this.process.say("begin");
		}

		@Override
		void begin(Fault fault) {
			switch (fault) {
				case KILLED -> this.process.close();
				case STOPPED, STOPPED_AND_KILLED -> this.process.signal("STOP");
				default -> throw new IllegalArgumentException(fault.name());
			}
		}

		@Override
		Competitor end(Fault fault) throws InterruptedException {
			if (fault == Fault.STOPPED) {
				this.process.signal("CONT");
				return this;
			}
			this.process.close();
			Competitor successor = Objects
				.requireNonNull(Arena.this.spares.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS));
			successor.begin();
			return successor;
		}

		@Override
		public void close() {
			this.process.close();
		}

	}

	private final class Inside extends Competitor {

		private final TcpProxy proxy = new TcpProxy(Arena.this.server.port());

		private final Instance locks = Instance.on(this.proxy.port());

		private final EventLog events = new EventLog(file(this.name));

		private final Contender contender = new Contender(this.locks, this.events, Arena.this.contest);

		private boolean closed;

		Inside() throws IOException {
			LockRequest request = LockRequest.of(this.nameLock).waitTime(PATIENCE);
			try (HeldLock held = this.locks.locks().acquire(request)) {
				held.ensureHeld();
				learnName();
			}
		}

		@Override
		void begin() {
			this.contender.begin();
		}

		@Override
		void begin(Fault fault) {
			Cut cut = (Arena.this.random.nextBoolean()) ? Cut.FIN : Cut.RST;
			switch (fault) {
				case CUT -> this.proxy.cut(cut);
				case SILENCED -> this.proxy.stall();
				case INBOX_CUT -> this.proxy.cutSubscribers(cut);
				case MESSAGES_LOST -> this.proxy.mute();
				default -> throw new IllegalArgumentException(fault.name());
			}
		}

		@Override
		Competitor end(Fault fault) {
			this.proxy.restore();
			return this;
		}

		@Override
		public void close() {
			if (this.closed) {
				return;
			}
			this.closed = true;
			this.contender.close();
			this.locks.close();
			this.proxy.close();
			try {
				this.events.close();
			}
			catch (IOException ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

}
