package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockspring.LockEvent.Lost.Cause;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.KeyedLock;
import io.github.lockspring.internal.base.CallChain;
import io.github.lockspring.internal.base.LockOptions;
import io.github.lockspring.internal.engine.support.LockEvents;
import io.github.lockspring.internal.engine.support.StoreClient;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * The handle of one hold: answers its holder, and sends the holder's own requests to the
 * store. Thread-safe; {@code isHeld} and {@code remaining} answer without a request and,
 * unless the lease seems to be over, without the monitor.
 */
@SuppressWarnings("try")
final class DefaultHeldLock implements KeyedLock {

	private static final Logger logger = LoggerFactory.getLogger(DefaultHeldLock.class);

	private static final long MIN_RENEWAL_NANOS = 1_000_000;

	private final KeyLockRegistry registry;

	private final KeyLock lock;

	private final Held hold;

	/**
	 * The calls that work under it, and the unit of work that it is kept for: the last of
	 * them ends it.
	 */
	private final AtomicInteger users = new AtomicInteger(1);

	DefaultHeldLock(KeyLockRegistry registry, Held hold) {
		this.registry = registry;
		this.lock = hold.lock;
		this.hold = hold;
	}

	private long now() {
		return this.registry.time().nanoTime();
	}

	/**
	 * Returns the lock of the present call chain that a request for the key would enter
	 * again. One that was lost counts too: to enter it again reports the loss.
	 */
	static @Nullable DefaultHeldLock ofCallChain(KeyLockRegistry registry, String key) {
		for (KeyedLock lock : CallChain.currentLocks(KeyedLock.class)) {
			if (lock instanceof DefaultHeldLock held && held.registry == registry && held.key().equals(key)) {
				return held;
			}
		}
		return null;
	}

	LockParameters parameters() {
		return this.hold.parameters();
	}

	void openedBy(Thread thread, boolean bound) {
		this.hold.openedBy(thread, bound);
	}

	/** An error has kept its holder from ending it. */
	void holderGone() {
		this.hold.holderGone();
	}

	/** A call of the same call chain uses it too. */
	void use() {
		this.users.incrementAndGet();
	}

	/** A unit of work uses it too. */
	void keep() {
		use();
		this.hold.keep();
	}

	/**
	 * A call or the unit of work does not use it any more.
	 * @return whether it was the last one, which has to end it
	 */
	boolean endUse() {
		return this.users.decrementAndGet() == 0;
	}

	/**
	 * Starts the limits of a hold that waited for the other keys of its request.
	 */
	void begin() {
		this.lock.begin(this.hold, now());
	}

	/**
	 * Renews the lease if it has less than half of its ttl left, and ends before the hold
	 * may.
	 * @throws LockUnavailableException if the store gives no result
	 */
	void renewIfShort() {
		LockParameters parameters = parameters();
		if (this.hold.needsRenewal() && remaining().toNanos() < parameters.ttlNanos() / 2) {
			renew(parameters.ttl(), false);
		}
	}

	/**
	 * Lets a loss interrupt the present thread.
	 * @return the interrupt, to be ended by the same thread
	 */
	LossInterrupt arm() {
		return this.lock.arm(this.hold);
	}

	// the public side

	@Override
	public String key() {
		return this.lock.key();
	}

	@Override
	public @Nullable String name() {
		return parameters().name();
	}

	@Override
	public List<DefaultHeldLock> locks() {
		return List.of(this);
	}

	@Override
	public long fencingToken() {
		return this.hold.fencingToken();
	}

	@Override
	public Duration remaining() {
		if (!isHeld()) {
			return Duration.ZERO;
		}
		return Duration.ofNanos(Math.max(0, this.hold.expiry() - now()));
	}

	@Override
	public boolean isHeld() {
		return this.hold.isActive() && (!this.hold.isOver(now()) || this.lock.isHeld(this.hold, now()));
	}

	@Override
	public void ensureHeld() {
		if (!isHeld()) {
			if (this.hold.state() == Held.State.CLOSED) {
				throw new IllegalStateException("Lock '" + key() + "' was closed");
			}
			throw lostException();
		}
	}

	LockLostException lostException() {
		Cause cause = this.hold.lossCause();
		return new LockLostException(key(),
				LockMessages.lost(parameters(), (cause != null) ? cause : Cause.EXPIRED, fencingToken()));
	}

	@Override
	public void verify() {
		ensureHeld();
		renew(Duration.ofNanos(Math.max(this.hold.ttlToRequest(now()).toNanos(), MIN_RENEWAL_NANOS)), false);
		ensureHeld();
	}

	@Override
	public void extend(Duration duration) {
		if (duration.compareTo(LockOptions.MIN_TTL) < 0 || duration.compareTo(LockOptions.MAX_DURATION) > 0) {
			throw new IllegalArgumentException("A lease can be extended by " + LockOptions.MIN_TTL + " to "
					+ LockOptions.MAX_DURATION + ", not by " + duration);
		}
		ensureHeld();
		renew(duration, true);
		ensureHeld();
	}

	private void renew(Duration ttl, boolean extend) {
		long sent = now();
		Duration lease = this.registry.lease(ttl);
		this.lock.renewing(this.hold, lease.toNanos(), sent);
		RenewResult result;
		try (Uninterrupted scope = Uninterrupted.begin()) {
			result = this.registry.client().renew(new RenewRequest(key(), this.hold.token(), lease));
		}
		catch (LockUnavailableException ex) {
			throw new LockUnavailableException(key(),
					LockMessages.lock(parameters()) + " could not be renewed; the cause names the reason", ex);
		}
		this.lock.renewed(this.hold.token(), result, sent, lease.toNanos(), now());
		if (extend && result == RenewResult.RENEWED) {
			this.lock.extended(this.hold, RenewalPolicy.deadline(sent, ttl.toNanos()), now());
		}
	}

	@Override
	public void close() {
		if (end(false)) {
			throw lostException();
		}
	}

	/**
	 * Ends the hold. A release that fails is logged; after an error, the next event that
	 * lets the time pass ends the hold.
	 * @param inBackground whether nobody waits for the release, since the store does not
	 * answer now and the caller has waited long enough
	 * @return whether the lock was lost, and this is the first call to learn of it
	 */
	boolean end(boolean inBackground) {
		// a caller that waits may also be blocked by the driver
		boolean wait = !inBackground && !this.registry.client().isSilentFor(key())
				&& (!parameters().asyncRelease() || this.registry.releases().isFull());
		KeyLock.Ending ending;
		try (Uninterrupted scope = Uninterrupted.begin()) {
			ending = this.lock.end(this.hold, wait, now());
		}
		catch (Throwable ex) {
			this.hold.holderGone();
			throw ex;
		}
		Release release = ending.release();
		boolean lost = ending.before() == Held.State.LOST;
		if (release != null && wait) {
			lost = awaitRelease(release);
		}
		else if (release != null) {
			release.firstTry().thenAccept((result) -> released(result, false));
		}
		if (!lost && ending.before() == Held.State.ACTIVE) {
			this.registry.events()
				.publish(new LockEvents.Released(key(), parameters().name(), fencingToken(), this.hold.heldFor(now())));
		}
		return lost;
	}

	/**
	 * Waits for a release.
	 * @return whether another owner may have held the lock before it
	 */
	private boolean awaitRelease(Release release) {
		StoreClient client = this.registry.client();
		try {
			return released(client.join(release.firstTry(), key(), client.timeout(parameters().ttl())), true);
		}
		catch (LockUnavailableException ex) {
			Level level = client.noteFailure(key());
			LockMessages.about(logger.atLevel(level), parameters(), fencingToken())
				.log("{} could not be released, which will be tried again; it expires in at most {}: {}",
						LockMessages.lock(parameters()), LockMessages.duration(this.hold.deadline() - now()),
						ex.getMessage());
			return false;
		}
	}

	/**
	 * A release has a result. If nobody waited for it, it may come long after the work:
	 * once the lease is over, another owner does not show that the work was too late.
	 * @return whether another owner may have held the lock before it
	 */
	private boolean released(ReleaseResult result, boolean waitedFor) {
		if (!(result instanceof ReleaseResult.NotOwner notOwner) || (!waitedFor && isLeaseOver())) {
			return false;
		}
		boolean lost = notOwner.fencingToken() > fencingToken() || (waitedFor && isLeaseOver());
		if (lost) {
			this.hold.lostUnnoticed(Cause.FOUND_AT_RELEASE);
			this.registry.reportLoss(this.hold, Cause.FOUND_AT_RELEASE, this.hold.heldFor(now()));
		}
		else {
			this.registry.events().execute(this::foundGone);
		}
		return lost;
	}

	private boolean isLeaseOver() {
		return now() - this.hold.deadline() >= 0;
	}

	/** A repeated release, or data lost meanwhile: not known to be a loss. */
	private void foundGone() {
		LockMessages.about(logger.atWarn(), parameters(), fencingToken())
			.log("{} was gone when it was released, before its lease was over; no other owner is known to"
					+ " have held it meanwhile", LockMessages.lock(parameters()));
	}

	@Override
	public String toString() {
		return this.hold.toString();
	}

	/**
	 * A request that this thread sends itself: a driver would not wait for its result if
	 * the thread were interrupted, which it is again afterwards.
	 */
	private record Uninterrupted(boolean interrupted) implements AutoCloseable {

		static Uninterrupted begin() {
			return new Uninterrupted(Thread.interrupted());
		}

		@Override
		public void close() {
			if (this.interrupted) {
				Thread.currentThread().interrupt();
			}
		}

	}

}
