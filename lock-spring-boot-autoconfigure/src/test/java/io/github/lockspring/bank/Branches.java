package io.github.lockspring.bank;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

import io.github.lockspring.bank.BankApplication.Checkpoint;
import io.github.lockspring.bank.Round.Harm;
import io.github.lockspring.bank.Round.Moment;
import io.github.lockspring.internal.transaction.Verification;
import io.github.lockspring.testsupport.process.JavaProcess;
import io.github.lockspring.testsupport.redis.RedisServer;
import org.jspecify.annotations.Nullable;

/**
 * The processes of the bank and the redis-server that they share, and what happens to
 * them. Not thread-safe.
 */
final class Branches implements AutoCloseable {

	static final Duration TTL = Duration.ofMillis(300);

	/**
	 * So long a transfer is held up at most that somebody else may overtake: until its
	 * lease is over, the next one has looked, and a busy machine has found the time.
	 */
	private static final Duration PATIENCE = Duration.ofSeconds(30);

	final RedisServer redis = RedisServer.start();

	private final List<JavaProcess> workers = new ArrayList<>();

	private final SplittableRandom random;

	Branches(Path directory, int workers, int threads, int accounts, long seed) {
		this.random = new SplittableRandom(seed);
		for (int i = 1; i <= workers; i++) {
			String name = "branch-" + i;
			this.workers.add(new JavaProcess(name, directory, BankWorker.class,
					List.of(name, String.valueOf(this.redis.port()), String.valueOf(accounts), String.valueOf(threads),
							TTL.toMillis() + "ms", String.valueOf(this.random.nextLong()))));
		}
	}

	/** All begin to move money. */
	void run(String database, Verification verification, boolean fenced) {
		this.workers
			.forEach((worker) -> worker.say(BankWorker.RUN + " " + database + " " + verification + " " + fenced));
		this.workers.forEach((worker) -> worker.await(BankWorker.RUNNING));
	}

	/** Nobody is held up any more. */
	void free() {
		this.workers.forEach((worker) -> worker.say(BankWorker.FREE));
	}

	/**
	 * All come to rest.
	 * @return what became of their transfers since they began
	 */
	Map<Outcome, Integer> rest() {
		Map<Outcome, Integer> counts = new EnumMap<>(Outcome.class);
		this.workers.forEach((worker) -> worker.say(BankWorker.REST));
		this.workers.forEach((worker) -> Outcome.parse(worker.await(BankWorker.RESTED))
			.forEach((outcome, count) -> counts.merge(outcome, count, Integer::sum)));
		return counts;
	}

	/**
	 * One thing happens, and is over when this returns.
	 * @param moment when
	 * @param harm what
	 * @param audit knows who has overtaken whom
	 * @param patient whether to wait until the transfer that is held up is overtaken
	 */
	Round round(Moment moment, Harm harm, Audit audit, boolean patient) throws InterruptedException {
		pause(0, 60);
		JavaProcess victim = this.workers.get(this.random.nextInt(this.workers.size()));
		Detained detained = detain(victim, moment, audit);
		try {
			happen(harm, victim);
			await(harm, detained, audit, patient);
		}
		finally {
			if (harm.stopsWorker()) {
				victim.signal("CONT");
			}
		}
		if (detained == null) {
			return new Round(moment, harm, false, null);
		}
		boolean overtaken = detained.isOvertaken(audit);
		victim.say(BankWorker.FREE);
		return new Round(moment, harm, overtaken, Outcome.valueOf(victim.await(BankWorker.ENDED)));
	}

	private static @Nullable Detained detain(JavaProcess victim, Moment moment, Audit audit) {
		if (moment == Moment.ANYWHERE) {
			return null;
		}
		victim.say(BankWorker.DETAIN + " " + moment);
		String[] accounts = victim.await(Checkpoint.DETAINED).split(" ");
		int source = Integer.parseInt(accounts[0]);
		int target = Integer.parseInt(accounts[1]);
		return new Detained(source, target, audit.transfersOf(source, target));
	}

	private void happen(Harm harm, JavaProcess victim) {
		if (harm.stopsWorker()) {
			victim.signal("STOP");
		}
		switch (harm) {
			case FLUSHED, STOPPED_AND_FLUSHED -> this.redis.flushAll();
			case RESTARTED -> this.redis.restart();
			default -> {
			}
		}
	}

	private void await(Harm harm, @Nullable Detained detained, Audit audit, boolean patient)
			throws InterruptedException {
		if (harm == Harm.STOPPED) {
			// the lease is over, whatever the victim believes
			Thread.sleep(TTL.toMillis());
		}
		if (detained == null || !patient) {
			pause(50, 250);
			return;
		}
		long end = System.nanoTime() + PATIENCE.toNanos();
		while (!detained.isOvertaken(audit) && System.nanoTime() - end < 0) {
			Thread.sleep(10);
		}
	}

	private void pause(int least, int most) throws InterruptedException {
		Thread.sleep(this.random.nextInt(least, most));
	}

	/** How a choice is made that the seed repeats. */
	SplittableRandom random() {
		return this.random;
	}

	@Override
	public void close() {
		this.workers.forEach(JavaProcess::close);
		this.redis.close();
	}

	/**
	 * A transfer that is held up.
	 *
	 * @param source its first account
	 * @param target its other account
	 * @param before how many transfers of them the ledger had then
	 */
	private record Detained(int source, int target, int before) {

		boolean isOvertaken(Audit audit) {
			return audit.transfersOf(this.source, this.target) > this.before;
		}

	}

}
