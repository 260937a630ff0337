package io.github.lockspring.failure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.testsupport.history.EventLog;
import io.github.lockspring.testsupport.history.Pulse;
import io.github.lockspring.testsupport.history.RecordedEvents;
import io.github.lockspring.testsupport.network.TcpProxy.Cut;
import io.github.lockspring.testsupport.network.TcpProxy;
import io.github.lockspring.testsupport.process.JavaProcess;
import io.github.lockspring.testsupport.redis.RedisServer;

import static org.awaitility.Awaitility.await;

/**
 * Instances, each a process behind a proxy, that contend for the same locks on a real
 * server all the time, and what is done to one of them after the other.
 */
final class Arena implements AutoCloseable {

	/** The name under which the test's own process is late. */
	static final String TEST = "test";

	private static final Duration PATIENCE = Duration.ofMinutes(3);

	/** What is done to a waiter. */
	enum Fault {

		/** SIGKILL; another process takes its place. */
		KILLED,
		/** SIGSTOP for longer than a grant, then SIGCONT. */
		STOPPED,
		/** SIGSTOP for longer than a grant, then SIGKILL. */
		STOPPED_AND_KILLED,
		/** All its connections end. */
		CUT,
		/**
		 * Nothing gets through in either direction, while connections seem to be open.
		 */
		SILENCED,
		/** The connection for messages ends. */
		INBOX_CUT,
		/** Messages are lost, while commands and their answers get through. */
		MESSAGES_LOST;

		/** Whether the instance cannot give back what it holds or is granted. */
		boolean isOfWholeInstance() {
			return compareTo(INBOX_CUT) < 0;
		}

		/** Whether the instance does nothing from then on, whatever it wrote before. */
		boolean stopsTheProcess() {
			return compareTo(CUT) < 0;
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
	 */
	record Round(Fault fault, Moment moment, String victim, String successor, long from, long to, long over) {
	}

	final List<Round> rounds = new ArrayList<>();

	private final RedisServer server = RedisServer.start();

	private final Duration ttl;

	private final Path directory;

	private final SplittableRandom random;

	private final List<Competitor> competitors = new ArrayList<>();

	private final Map<String, Path> files = new TreeMap<>();

	private final GrantWatch watch;

	private final EventLog events;

	private final Pulse pulse;

	Arena(int instances, Duration ttl, Path directory, long seed) throws IOException {
		this.ttl = ttl;
		this.directory = Files.createDirectories(directory);
		this.random = new SplittableRandom(seed);
		this.watch = new GrantWatch(this.server);
		this.events = new EventLog(file(TEST));
		this.pulse = new Pulse(this.events, () -> this.server.command("PING"));
		for (int i = 0; i < instances; i++) {
			this.competitors.add(new Competitor());
		}
		this.competitors.forEach(Competitor::begin);
		long now = System.nanoTime();
		this.competitors.forEach((competitor) -> awaitProgress(competitor, now));
	}

	private Path file(String name) throws IOException {
		Path file = this.directory.resolve(name + ".events");
		Files.deleteIfExists(file);
		this.files.put(name, file);
		return file;
	}

	private void awaitProgress(Competitor competitor, long since) {
		await("locks for " + competitor.name).atMost(PATIENCE)
			.pollDelay(Duration.ZERO)
			.pollInterval(Duration.ofMillis(2))
			.until(() -> Contender.KEYS.stream()
				.allMatch((key) -> this.watch.wasGrantedAfter(competitor.instance, key, since)));
	}

	/** Does something to one of the waiters, and waits until everything is as before. */
	void round(Fault fault) throws Exception {
		// started ahead, so that a killed one is replaced at once
		Competitor spare = (fault == Fault.KILLED || fault == Fault.STOPPED_AND_KILLED) ? new Competitor() : null;
		TimeUnit.MILLISECONDS.sleep(this.random.nextInt(40));
		Moment moment = Moment.values()[this.random.nextInt(Moment.values().length)];
		Competitor victim = (moment == Moment.FIRST_IN_QUEUE) ? firstInQueue()
				: this.competitors.get(this.random.nextInt(this.competitors.size()));
		Cut cut = this.random.nextBoolean() ? Cut.FIN : Cut.RST;
		CompletableFuture<Long> shot = new CompletableFuture<>();
		Runnable shoot = () -> {
			long from = System.nanoTime();
			try {
				victim.suffer(fault, cut);
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
		Competitor successor = victim;
		if (spare != null) {
			victim.close();
			spare.begin();
			successor = spare;
		}
		else {
			victim.recover(fault);
		}
		long to = System.nanoTime();
		this.competitors.set(this.competitors.indexOf(victim), successor);
		awaitProgress(successor, to);
		this.rounds.add(new Round(fault, moment, victim.name, successor.name, from, to, System.nanoTime()));
	}

	private long length(Fault fault) {
		double grants = switch (fault) {
			case STOPPED, STOPPED_AND_KILLED -> 1.05 + 0.4 * this.random.nextDouble();
			case SILENCED -> 1.2 * this.random.nextDouble();
			case MESSAGES_LOST -> 0.5 * this.random.nextDouble();
			default -> 0;
		};
		return (long) (grants * this.ttl.toNanos());
	}

	private Competitor firstInQueue() {
		while (true) {
			String key = Contender.KEYS.get(this.random.nextInt(Contender.KEYS.size()));
			List<?> first = (List<?>) Objects
				.requireNonNull(this.server.command("ZRANGE", "{lock:" + key + "}:queue", "0", "0"));
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
		return RecordedEvents.read(this.files);
	}

	@Override
	public void close() throws IOException {
		this.competitors.forEach(Competitor::close);
		this.pulse.close();
		this.watch.close();
		this.events.close();
		this.server.close();
	}

	private final class Competitor {

		private final String name = "contender-" + Arena.this.files.size();

		private final TcpProxy proxy = new TcpProxy(Arena.this.server.port());

		private final JavaProcess process;

		private final String instance;

		Competitor() throws IOException {
			this.process = new JavaProcess(this.name, Arena.this.directory, Contender.class,
					List.of(String.valueOf(this.proxy.port()), file(this.name).toString(), Arena.this.ttl.toString(),
							this.name));
			this.process.await(Contender.READY);
			String token = Objects.requireNonNull(Arena.this.server.get("lock:" + this.name));
			this.instance = token.substring(0, token.indexOf('.'));
		}

		void begin() {
			this.process.say("begin");
		}

		void suffer(Fault fault, Cut cut) {
			switch (fault) {
				case KILLED -> this.process.close();
				case STOPPED, STOPPED_AND_KILLED -> this.process.signal("STOP");
				case CUT -> this.proxy.cut(cut);
				case SILENCED -> this.proxy.stall();
				case INBOX_CUT -> this.proxy.cutSubscribers(cut);
				case MESSAGES_LOST -> this.proxy.mute();
			}
		}

		void recover(Fault fault) {
			if (fault == Fault.STOPPED) {
				this.process.signal("CONT");
			}
			this.proxy.restore();
		}

		void close() {
			this.process.close();
			this.proxy.close();
		}

	}

}
