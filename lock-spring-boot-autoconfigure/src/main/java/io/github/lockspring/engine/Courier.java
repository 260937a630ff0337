package io.github.lockspring.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.ReleaseQuestion;
import io.github.lockspring.store.RenewAnswer;
import io.github.lockspring.store.RenewQuestion;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the store what no caller waits for: renewals, and releases of tenures that left
 * the queue or turned out to be orphans.
 * <p>
 * For maintainers: everything runs on one thread of the given executor, one question
 * after the other, renewals always before releases. {@code running} is true while that
 * thread is busy or about to be; whoever turns it from false to true submits it. A
 * release that gets no answer is dropped, and with it those that wait behind it: while
 * the store hangs each would cost a time-out and delay the renewals after it. Nothing is
 * lost by that, since the next instance that waits for such a lock names its token to
 * this one, which then knows it no more and releases it.
 */
final class Courier {

	private static final Logger logger = LoggerFactory.getLogger(Courier.class);

	private static final long CHECK_INTERVAL = 2_000_000;

	private record Release(ReleaseQuestion question, @Nullable Runnable afterwards) {
	}

	private final LockStore store;

	private final EngineSettings settings;

	private final Time time;

	private final Leases leases;

	private final Executor executor;

	private final Queue<Tenure> renewals = new ConcurrentLinkedQueue<>();

	private final Queue<Release> releases = new ConcurrentLinkedQueue<>();

	private final AtomicBoolean running = new AtomicBoolean();

	Courier(LockStore store, EngineSettings settings, Time time, Leases leases, Executor executor) {
		this.store = store;
		this.settings = settings;
		this.time = time;
		this.leases = leases;
		this.executor = executor;
	}

	void renew(List<Tenure> tenures) {
		this.renewals.addAll(tenures);
		if (!start()) {
			Tenure tenure;
			while ((tenure = this.renewals.poll()) != null) {
				this.leases.renewed(tenure, RenewAnswer.UNKNOWN, this.time.nanoTime(), 0);
			}
		}
	}

	/**
	 * Releases later.
	 * @param question what to release
	 * @param afterwards called when it was answered or given up
	 */
	void release(ReleaseQuestion question, @Nullable Runnable afterwards) {
		this.releases.add(new Release(question, afterwards));
		start();
	}

	/**
	 * Sees to it that the thread is at work.
	 * @return false if there is none and none can be made now
	 */
	private boolean start() {
		if (this.running.compareAndSet(false, true)) {
			try {
				this.executor.execute(this::run);
			}
			catch (RuntimeException | Error ex) {
				// an error too: a machine may be out of threads for a moment
				this.running.set(false);
				logger.error("The thread that renews locks could not be started and will be tried again", ex);
				return false;
			}
		}
		return true;
	}

	private void run() {
		try {
			while (renewSome() || releaseOne()) {
				continue;
			}
		}
		catch (Throwable ex) {
			logger.error("The lock courier goes on after an error", ex);
		}
		finally {
			this.running.set(false);
			if (!this.renewals.isEmpty() || !this.releases.isEmpty()) {
				start();
			}
		}
	}

	private boolean renewSome() {
		long sent = this.time.nanoTime();
		List<Tenure> tenures = new ArrayList<>();
		List<RenewQuestion> questions = new ArrayList<>();
		Duration timeout = this.settings.commandTimeout();
		Tenure tenure;
		while (questions.size() < this.settings.renewalBatchSize() && (tenure = this.renewals.poll()) != null) {
			RenewQuestion question = this.leases.question(tenure, sent);
			if (question != null) {
				tenures.add(tenure);
				questions.add(question);
				Duration third = Duration.ofNanos(question.ttl().toNanos() / 3);
				timeout = (third.compareTo(timeout) < 0) ? third : timeout;
			}
		}
		if (questions.isEmpty()) {
			return false;
		}
		List<RenewAnswer> answers;
		try {
			answers = this.store.renew(questions, timeout);
		}
		catch (LockUnavailableException ex) {
			logger.warn("{} lock(s), '{}' among them, could not be renewed now and will be tried again: {}",
					questions.size(), questions.get(0).key(), ex.getMessage());
			answers = List.of();
		}
		catch (RuntimeException | Error ex) {
			// an error too: whatever happens here, these leases are tried again
			logger.error("The store failed in an unexpected way; {} lock(s) will be renewed again", questions.size(),
					ex);
			answers = List.of();
		}
		for (int i = 0; i < tenures.size(); i++) {
			RenewAnswer answer = (i < answers.size()) ? answers.get(i) : RenewAnswer.UNKNOWN;
			this.leases.renewed(tenures.get(i), answer, sent, questions.get(i).ttl().toNanos());
		}
		return true;
	}

	private boolean releaseOne() {
		Release release = this.releases.poll();
		if (release == null) {
			return false;
		}
		try {
			this.store.release(release.question, this.settings.commandTimeout());
		}
		catch (RuntimeException | Error ex) {
			logger.debug("Lock '{}' could not be released in the background: {}", release.question.key(),
					ex.getMessage());
			done(release);
			while ((release = this.releases.poll()) != null) {
				done(release);
			}
			return true;
		}
		done(release);
		return true;
	}

	private static void done(Release release) {
		if (release.afterwards != null) {
			release.afterwards.run();
		}
	}

	/**
	 * Waits until everything given to this was carried out.
	 */
	void awaitIdle(Duration longest) {
		long end = this.time.nanoTime() + longest.toNanos();
		while (this.running.get() && this.time.nanoTime() - end < 0 && !Thread.currentThread().isInterrupted()) {
			this.time.park(this, CHECK_INTERVAL);
		}
	}

}
