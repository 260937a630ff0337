package io.github.lockspring.internal.engine;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.engine.support.StoreClient;
import io.github.lockspring.internal.engine.support.Time;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Sends the renewals of a round of the watchdog, in as few requests as possible: those of
 * each shard by themselves, so that a server that hangs delays no renewals of others.
 * Each lock receives one result, also if there is no answer in time. Thread-safe.
 */
final class Renewals {

	private static final Logger logger = LoggerFactory.getLogger(Renewals.class);

	/** Most leases that one request renews: other requests do not wait long behind it. */
	private static final int BATCH_SIZE = 100;

	private final StoreClient client;

	private final Time time;

	/** Runs log statements. */
	private final Executor reports;

	private final Set<Batch> underWay = ConcurrentHashMap.newKeySet();

	Renewals(StoreClient client, Time time, Executor reports) {
		this.client = client;
		this.time = time;
		this.reports = reports;
	}

	/** Sends renewals. Never blocks. */
	void send(List<Renewal> renewals) {
		Map<String, List<Renewal>> byShard = new HashMap<>();
		for (Renewal renewal : renewals) {
			byShard.computeIfAbsent(this.client.shard(renewal.request().key()), (shard) -> new ArrayList<>())
				.add(renewal);
		}
		for (List<Renewal> some : byShard.values()) {
			for (int i = 0; i < some.size(); i += BATCH_SIZE) {
				new Batch(some.subList(i, Math.min(some.size(), i + BATCH_SIZE))).send();
			}
		}
	}

	/**
	 * Gives up what has not been answered in time.
	 * @return when something is due next
	 */
	long tick(long now) {
		long next = now + Time.FOREVER;
		for (Batch batch : this.underWay) {
			if (now - batch.until >= 0) {
				batch.answered(null, this.client.noteUnanswered(batch.key));
			}
			else {
				next = Time.earlier(next, batch.until);
			}
		}
		return next;
	}

	/**
	 * A request for several locks.
	 */
	private final class Batch {

		private final List<Renewal> renewals;

		private final List<RenewRequest> requests;

		/** One of the keys. */
		private final String key;

		private final long sent;

		private final long until;

		Batch(List<Renewal> renewals) {
			this.renewals = renewals;
			this.requests = renewals.stream().map(Renewal::request).toList();
			this.key = this.requests.get(0).key();
			this.sent = Renewals.this.time.nanoTime();
			this.until = this.sent + Renewals.this.client.timeout(this.requests).toNanos();
		}

		void send() {
			Renewals.this.underWay.add(this);
			Renewals.this.client.renew(this.requests, false, this::answered);
		}

		/** Tells each lock, once. */
		void answered(@Nullable List<RenewResult> results, @Nullable LockUnavailableException failure) {
			if (!Renewals.this.underWay.remove(this)) {
				return;
			}
			List<RenewResult> known = Collections.nCopies(this.renewals.size(), RenewResult.UNKNOWN);
			if (results != null && results.size() == known.size()) {
				known = results;
			}
			else {
				report((failure != null) ? failure.getMessage() : "the store returned " + results);
			}
			for (int i = 0; i < known.size(); i++) {
				tell(this.renewals.get(i), known.get(i));
			}
		}

		private void report(@Nullable String reason) {
			Level level = Renewals.this.client.noteFailure(this.key);
			Renewals.this.reports.execute(() -> logger.atLevel(level)
				.log("{} lock(s), '{}' among them, could not be renewed now and will be tried again: {}",
						this.renewals.size(), this.key, reason));
		}

		private void tell(Renewal renewal, RenewResult result) {
			try {
				renewal.lock()
					.renewed(renewal.request().token(), result, this.sent, renewal.request().ttl().toNanos(),
							Renewals.this.time.nanoTime());
			}
			catch (RuntimeException | Error ex) {
				// the others must get their results all the same
				Renewals.this.reports
					.execute(() -> logger.error("The renewal of {} could not be used", renewal.lock(), ex));
			}
		}

	}

}
