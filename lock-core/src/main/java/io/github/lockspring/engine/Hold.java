package io.github.lockspring.engine;

import java.time.Duration;
import java.util.List;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockSpec;
import io.github.lockspring.OnLost;
import io.github.lockspring.store.ReleaseResult;
import io.github.lockspring.store.ReleaseRequest;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One caller's use of a lock, inside a tenure.
 * <p>
 * For maintainers: {@code state} goes from ACTIVE to LOST or to CLOSED, and from LOST to
 * CLOSED, under the entry's lock; a hold that is not ACTIVE never becomes so again. The
 * lease's end is the tenure's deadline or this hold's limit, whichever is earlier; both
 * are volatile, since {@code isHeld} and {@code remaining} read them without the lock;
 * only who finds the lease over takes it, and declares the loss.
 */
final class Hold implements HeldLock {

	static final String OVER = "its lease was over before it could be renewed or released";

	static final String NOT_OWNER = "the store says that it belongs to somebody else, or to nobody";

	static final String SHUTDOWN = "the application stopped while the work was still running";

	private static final Logger logger = LoggerFactory.getLogger(Hold.class);

	private enum State {

		ACTIVE, LOST, CLOSED

	}

	private final LockEntry entry;

	private final Tenure tenure;

	private final Terms terms;

	private final long fencingToken;

	private long start;

	/** The limit without re-entries. */
	private long ownLimit;

	private volatile long limit;

	private final Reentries reentries = new Reentries();

	private volatile State state = State.ACTIVE;

	private @Nullable String lostReason;

	private final WorkerInterrupt interrupt;

	/** The thread that opened this handle, for the message that names it. */
	volatile @Nullable Thread opener;

	Hold(LockEntry entry, Tenure tenure, Terms terms, long now, boolean deferred) {
		this.entry = entry;
		this.tenure = tenure;
		this.terms = terms;
		this.fencingToken = tenure.fencingToken;
		this.start = now;
		this.ownLimit = deferred ? now + Time.FOREVER : terms.limitFrom(now);
		this.limit = this.ownLimit;
		this.interrupt = new WorkerInterrupt(entry);
	}

	Tenure tenure() {
		return this.tenure;
	}

	LockTable table() {
		return this.entry.table();
	}

	Terms terms() {
		return this.terms;
	}

	long start() {
		return this.start;
	}

	long limit() {
		return this.limit;
	}

	long expiry() {
		return Time.earlier(this.tenure.deadline, this.limit);
	}

	boolean isOver() {
		return now() - expiry() >= 0;
	}

	private long now() {
		return this.entry.table().time.nanoTime();
	}

	/**
	 * Starts the limits of a hold that waited for the other keys of its request.
	 */
	void begin() {
		this.entry.lock();
		try {
			this.start = now();
			this.ownLimit = this.terms.limitFrom(this.start);
			limitChanged();
		}
		finally {
			this.entry.unlock();
		}
	}

	/** Whether the lease ends so early that it is renewed before the work starts. */
	boolean isShort() {
		return this.tenure.needsRenewal(this);
	}

	// re-entry

	/** Enters again, unless the lock is lost. */
	Reentries.Entered enter(Terms inner) {
		this.entry.lock();
		try {
			if (!isHeld()) {
				return Reentries.Entered.NOT;
			}
			Reentries.Entered entered = this.reentries.add(inner, now(), this.terms, this.ownLimit);
			limitChanged();
			return entered;
		}
		finally {
			this.entry.unlock();
		}
	}

	void exit(Terms inner) {
		this.entry.lock();
		try {
			this.reentries.remove(inner);
			limitChanged();
		}
		finally {
			this.entry.unlock();
		}
	}

	/** The lease was lengthened by hand. With the entry's lock held. */
	void raiseLimit(long limit) {
		this.ownLimit = Time.later(this.ownLimit, limit);
		limitChanged();
	}

	private void limitChanged() {
		this.limit = this.reentries.limit(this.ownLimit);
		if (this.tenure.state == Tenure.State.HELD && this.tenure.hold == this) {
			table().leases.reschedule(this.tenure, this);
		}
	}

	/**
	 * Interrupts the present thread if the lock is lost before {@link #disarm}, or was
	 * lost already.
	 * @return whether to disarm; false if a thread is to be interrupted already
	 */
	boolean arm() {
		this.entry.lock();
		try {
			boolean armed = this.interrupt.arm();
			if (this.state == State.LOST) {
				this.interrupt.fire();
			}
			return armed;
		}
		finally {
			this.entry.unlock();
		}
	}

	void disarm() {
		this.interrupt.disarm();
	}

	/** Declares the loss. With the entry's lock held. */
	void lost(String reason) {
		if (this.state != State.ACTIVE) {
			return;
		}
		this.lostReason = reason;
		this.state = State.LOST;
		this.interrupt.fire();
		Duration held = Duration.ofNanos(now() - this.start);
		logger.warn("Lock '{}' ({}) was lost after {}: {}. Its work may have run beside another holder's",
				this.terms.key(), this.fencingToken, Text.duration(held), reason);
		table().events
			.publishApart(new LockEvent.Lost(this.terms.key(), this.terms.name(), this.fencingToken, held, reason));
	}

	// the public side

	@Override
	public String key() {
		return this.terms.key();
	}

	@Override
	public List<HeldLock> locks() {
		return List.of(this);
	}

	@Override
	public long fencingToken() {
		return this.fencingToken;
	}

	@Override
	public Duration remaining() {
		if (!isHeld()) {
			return Duration.ZERO;
		}
		return Duration.ofNanos(Math.max(0, expiry() - now()));
	}

	@Override
	public boolean isHeld() {
		return this.state == State.ACTIVE && (!isOver() || isHeldAfterAll());
	}

	/**
	 * A lease that seems to be over is lengthened in this moment, or is lost from now on:
	 * who was told that it is over is never told otherwise.
	 */
	private boolean isHeldAfterAll() {
		this.entry.lock();
		try {
			if (this.state == State.ACTIVE && isOver()) {
				this.entry.lose(this.tenure, OVER);
			}
			return this.state == State.ACTIVE;
		}
		finally {
			this.entry.unlock();
		}
	}

	@Override
	public void ensureHeld() {
		if (!isHeld()) {
			if (this.state == State.CLOSED) {
				throw new IllegalStateException("Lock '" + this.terms.key() + "' was closed");
			}
			throw lostException();
		}
	}

	LockLostException lostException() {
		String reason = this.lostReason;
		return new LockLostException(this.terms.key(),
				Text.lost(this.terms, (reason != null) ? reason : OVER, this.fencingToken));
	}

	@Override
	public void verify() {
		ensureHeld();
		long left = Math.min(this.terms.ttl(), this.limit - now());
		table().leases.renewNow(this, Duration.ofNanos(Math.max(left, 1_000_000)), false);
		ensureHeld();
	}

	@Override
	public OnLost onLost() {
		this.entry.lock();
		try {
			return this.reentries.onLost(this.terms.onLost());
		}
		finally {
			this.entry.unlock();
		}
	}

	@Override
	public void extend(Duration duration) {
		if (duration.compareTo(LockSpec.MIN_TTL) < 0 || duration.compareTo(LockSpec.MAX_DURATION) > 0) {
			throw new IllegalArgumentException("A lease can be extended by " + LockSpec.MIN_TTL + " to "
					+ LockSpec.MAX_DURATION + ", not by " + duration);
		}
		ensureHeld();
		table().leases.renewNow(this, duration, true);
		ensureHeld();
	}

	@Override
	public void close() {
		if (end(false) && this.terms.onLost() != OnLost.NOTIFY) {
			throw lostException();
		}
	}

	/**
	 * Ends the hold. Never throws; what goes wrong with the release is logged.
	 * @param later whether the release is left to the background, since the store does
	 * not answer now and the caller has waited long enough
	 * @return whether the lock was lost and this is the first one to be told
	 */
	boolean end(boolean later) {
		ReleaseRequest request = null;
		boolean lost;
		this.entry.lock();
		try {
			if (this.state == State.CLOSED) {
				return false;
			}
			if (this.state == State.ACTIVE && isOver()) {
				this.entry.lose(this.tenure, OVER);
			}
			lost = this.state == State.LOST;
			this.state = State.CLOSED;
			if (!lost) {
				request = table().passing.end(this.entry, this);
			}
		}
		finally {
			this.entry.unlock();
		}
		if (lost) {
			table().courier.release(this.entry.release(this.tenure, Duration.ZERO), null);
		}
		else if (request != null && later) {
			table().courier.release(request, () -> this.entry.ended(this.tenure));
		}
		else if (request != null) {
			lost = !release(request);
		}
		if (!lost && table().events.hasListeners()) {
			table().events.publish(new LockEvent.Released(this.terms.key(), this.terms.name(), this.fencingToken,
					Duration.ofNanos(now() - this.start)));
		}
		return lost;
	}

	/**
	 * Releases in the store.
	 * @return false if somebody else may have held the lock before this release
	 */
	private boolean release(ReleaseRequest request) {
		try {
			ReleaseResult answer = Calls
				.uninterrupted(() -> table().store.release(request, this.terms.timeout(table().settings)));
			if (answer instanceof ReleaseResult.NotOwner notOwner) {
				return notOwner(notOwner);
			}
			return true;
		}
		catch (RuntimeException | Error ex) {
			// an error too: it must not hide the work's own, nor keep other locks from
			// their release
			logger.warn("{} could not be released and will end by itself in at most {}: {}", Text.lock(this.terms),
					Text.duration(Duration.ofNanos(Math.max(0, this.tenure.deadline - now()))), ex.getMessage());
			return true;
		}
		finally {
			this.entry.ended(this.tenure);
		}
	}

	private boolean notOwner(ReleaseResult.NotOwner answer) {
		if (now() - this.tenure.deadline < 0 && answer.fencingToken() <= this.tenure.fencingToken) {
			// a repeated release, or data lost meanwhile: nobody has held it since
			logger.warn("{} was gone when it was released; nobody else has held it meanwhile", Text.lock(this.terms));
			return true;
		}
		this.lostReason = "when it was released, somebody else had it or had had it. "
				+ "If the connection to the store was interrupted in that very moment, this may be a false alarm";
		logger.warn("{} was lost: {}", Text.lock(this.terms), this.lostReason);
		table().events.publishApart(new LockEvent.Lost(this.terms.key(), this.terms.name(), this.fencingToken,
				Duration.ofNanos(now() - this.start), NOT_OWNER));
		return false;
	}

	@Override
	public String toString() {
		return "Lock '" + this.terms.key() + "' (" + this.fencingToken + ", " + this.state + ")";
	}

}
