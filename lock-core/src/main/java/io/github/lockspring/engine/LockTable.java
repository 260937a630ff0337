package io.github.lockspring.engine;

import java.security.SecureRandom;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;

import io.github.lockspring.LockListener;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.Inbox;
import io.github.lockspring.store.InboxListener;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.ReleaseRequest;
import org.jspecify.annotations.Nullable;

/**
 * Everything one instance knows: an entry for each key that is in use here, the tokens of
 * its tenures, and what the entries need to work with.
 * <p>
 * For maintainers: a token is <em>known</em> from before its first request is sent until
 * its release has been answered or given up, or until its lease is lost. A message about
 * a token that is not known is answered with a release: that is how the store gets rid of
 * orphans. {@code entries} and {@code tokens} are concurrent maps; an entry takes itself
 * out, under its own lock, when it has neither tenure nor callers. Lock order: an entry's
 * lock is never held while another one is taken, nor during a request to the store.
 */
final class LockTable implements InboxListener {

	private static final long SPREAD = 50_000_000;

	final LockStore store;

	final EngineSettings settings;

	final Time time;

	final Watchdog watchdog;

	final Courier courier;

	final Events events;

	final Looks looks = new Looks(this);

	final Leases leases = new Leases(this);

	final Passing passing = new Passing(this);

	private final String instance = newInstance();

	private final AtomicLong sequence = new AtomicLong();

	private final ConcurrentHashMap<String, LockEntry> entries = new ConcurrentHashMap<>();

	private final ConcurrentHashMap<Long, Tenure> tokens = new ConcurrentHashMap<>();

	private final @Nullable Inbox inbox;

	private volatile boolean closing;

	private volatile boolean stopped;

	LockTable(LockStore store, EngineSettings settings, List<LockListener> listeners, Time time, Executor io,
			Executor eventThread, Executor watchdogThread) {
		this.store = store;
		this.settings = settings;
		this.time = time;
		this.events = new Events(listeners, eventThread);
		this.courier = new Courier(store, settings, time, this.leases, io);
		this.watchdog = new Watchdog(time, this.leases, this.courier, watchdogThread);
		this.inbox = store.inbox(this.instance, this).orElse(null);
	}

	private static String newInstance() {
		byte[] random = new byte[16];
		new SecureRandom().nextBytes(random);
		return Base64.getUrlEncoder().withoutPadding().encodeToString(random);
	}

	String instance() {
		return this.instance;
	}

	LockEntry entry(String key) {
		LockEntry entry = this.entries.get(key);
		return (entry != null) ? entry : this.entries.computeIfAbsent(key, (k) -> new LockEntry(this, k));
	}

	void remove(LockEntry entry) {
		this.entries.remove(entry.key(), entry);
	}

	Iterable<LockEntry> entries() {
		return this.entries.values();
	}

	boolean isEmpty() {
		return this.entries.isEmpty() && this.tokens.isEmpty();
	}

	/**
	 * Makes a token and knows it.
	 */
	Tenure newTenure(LockEntry entry, int grantMillis) {
		long number = this.sequence.incrementAndGet();
		Tenure tenure = new Tenure(entry, new OwnerToken(this.instance, number, grantMillis));
		this.tokens.put(number, tenure);
		return tenure;
	}

	void forget(Tenure tenure) {
		this.tokens.remove(tenure.token.sequence());
	}

	boolean isInboxConfirmed() {
		return this.inbox != null && this.inbox.isConfirmed();
	}

	void openInbox() {
		if (this.inbox != null && !this.inbox.isConfirmed()) {
			this.inbox.open();
		}
	}

	void doubtInbox() {
		if (this.inbox != null) {
			this.inbox.open();
			this.inbox.probe();
		}
	}

	void closeInbox() {
		if (this.inbox != null) {
			this.inbox.close();
		}
	}

	boolean isStopped() {
		return this.stopped;
	}

	void setStopped(boolean stopped) {
		this.stopped = stopped;
	}

	void checkRunning() {
		if (this.stopped) {
			throw new LockUnavailableException("Locks cannot be taken: the application has stopped");
		}
	}

	boolean isClosing() {
		return this.closing;
	}

	void setClosing(boolean closing) {
		this.closing = closing;
		if (closing) {
			this.entries.values().forEach(LockEntry::wakeAll);
		}
	}

	@Override
	public void granted(String key, OwnerToken token, long fencingToken, boolean othersWait) {
		Tenure tenure = known(key, token);
		if (tenure != null) {
			this.looks.granted(tenure.entry, tenure, new Tenure.Grant(fencingToken, othersWait));
		}
	}

	@Override
	public void wanted(String key, OwnerToken token) {
		Tenure tenure = known(key, token);
		if (tenure != null) {
			this.looks.wanted(tenure.entry, tenure);
		}
	}

	private @Nullable Tenure known(String key, OwnerToken token) {
		if (!token.instance().equals(this.instance)) {
			return null;
		}
		Tenure tenure = this.tokens.get(token.sequence());
		if (tenure == null) {
			this.courier.release(new ReleaseRequest(key, token), null);
		}
		return tenure;
	}

	@Override
	public void opened() {
		for (LockEntry entry : this.entries.values()) {
			this.looks.lookSoon(entry, ThreadLocalRandom.current().nextLong(SPREAD));
		}
	}

}
