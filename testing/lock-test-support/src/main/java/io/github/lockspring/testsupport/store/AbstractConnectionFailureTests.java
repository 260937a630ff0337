package io.github.lockspring.testsupport.store;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.KeyedLock;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.LockStoreInspector;
import io.github.lockspring.store.StoredLock;
import io.github.lockspring.testsupport.network.TcpProxy;
import io.github.lockspring.testsupport.store.ControlledStore.Kind;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The behaviour of a lock when its requests are carried out late, or an instance is cut
 * off, on a server that works.
 *
 * @since 0.1
 */
public abstract class AbstractConnectionFailureTests {

	/** Longer than a busy machine takes. */
	protected static final Duration PATIENT = Duration.ofMinutes(1);

	/** Longer than a grant or a session, even on a busy machine, and half of a lease. */
	static final Duration SOON = PATIENT.dividedBy(2);

	private static final Duration TIMEOUT = Duration.ofSeconds(2);

	/** The key of this test. */
	protected final String key = "failure " + UUID.randomUUID();

	final LockRequest lasting = LockRequest.of(this.key).ttl(PATIENT).renew(false).waitTime(PATIENT);

	private final List<AutoCloseable> opened = new ArrayList<>();

	final ExecutorService threads = Executors.newCachedThreadPool();

	/** Returns the port of the server. */
	protected abstract int port();

	/**
	 * Creates a store.
	 * @param port how the server is reached
	 * @param lasting whether the store itself may keep a lease for a minute without a
	 * reply
	 */
	protected abstract LockStore store(int port, boolean lasting);

	/**
	 * Returns whether a lock that was acquired after its release is found only by another
	 * instance that waits for it, which notifies the one that has left it.
	 */
	protected boolean needsMessages() {
		return false;
	}

	/** Creates an instance that has had a lock already. */
	final Instance instance(int port, boolean lasting) {
		Instance instance = Instance.over(store(port, lasting))
			.commandTimeout(TIMEOUT)
			.shutdownTimeout(Duration.ofMillis(100))
			.start();
		closeLater(instance);
		instance.locks().acquire(LockRequest.of("warm-up " + UUID.randomUUID()).waitTime(PATIENT)).close();
		return instance;
	}

	/** An instance that is not to lose a lock. */
	final LockTemplate lastingInstance() {
		return instance(port(), true).locks();
	}

	final TcpProxy proxy() {
		TcpProxy proxy = new TcpProxy(port());
		closeLater(proxy);
		return proxy;
	}

	/** Closes something after the test, before what was opened earlier. */
	protected final void closeLater(AutoCloseable closeable) {
		this.opened.add(0, closeable);
	}

	@AfterEach
	void closeAll() throws Exception {
		this.threads.shutdownNow();
		for (AutoCloseable closeable : this.opened) {
			closeable.close();
		}
	}

	/** Verifies a lock, again if a request had no reply in time. */
	static void verify(HeldLock lock) {
		await().atMost(PATIENT)
			.pollDelay(Duration.ZERO)
			.ignoreException(LockUnavailableException.class)
			.untilAsserted(((KeyedLock) lock)::verify);
	}

	final Optional<StoredLock> stored(LockStoreInspector inspector) {
		// its first connection may take longer than a pool waits for one
		return await().ignoreException(LockUnavailableException.class)
			.until(() -> inspector.find(this.key, PATIENT), (found) -> true);
	}

	final LockStoreInspector inspector() {
		LockStore store = store(port(), true);
		closeLater(store::close);
		return store.inspector().orElseThrow();
	}

	final void awaitWaiting(int count) {
		LockStoreInspector inspector = inspector();
		await().atMost(PATIENT)
			.until(() -> stored(inspector).map(StoredLock::waiting).orElse(0), (waiting) -> waiting == count);
	}

	final void awaitNothingLeft() {
		LockStoreInspector inspector = inspector();
		await().atMost(PATIENT).until(() -> stored(inspector).isEmpty());
	}

	/**
	 * Its caller is told that the store is unavailable, or the store has repeated it.
	 * Then its token is released, and afterwards the server gets the first request.
	 */
	@ParameterizedTest // defects 3 and 23
	@ValueSource(booleans = { true, false })
	@Tag("lost-reply")
	void f20AcquisitionThatIsCarriedOutAfterItsReleaseLeavesNoLock(boolean heldByAnother) {
		TcpProxy proxy = proxy();
		Instance late = instance(proxy.port(), true);
		if (needsMessages()) {
			late.openInbox();
		}
		LockTemplate other = lastingInstance();
		// so that one request is enough
		other.acquire(this.lasting).close();
		proxy.delayNext(late.store().instance());
		try {
			late.locks().tryAcquire(this.lasting.waitTime(Duration.ZERO)).ifPresent(HeldLock::close);
		}
		catch (LockUnavailableException ex) {
			// as it should be if nothing repeats it
		}
		await().atMost(SOON).until(() -> !late.store().answered(Kind.RELEASE, this.key).isEmpty());
		if (heldByAnother) {
			HeldLock held = other.acquire(this.lasting.waitTime(SOON));
			deliver(proxy);
			verify(held);
			held.close();
		}
		else {
			deliver(proxy);
		}
		other.acquire(this.lasting.waitTime(SOON)).close();
		awaitNothingLeft();
	}

	/** It is repeated meanwhile, so that the same instance acquires the lock again. */
	@Test // defect 2
	@Tag("lost-reply")
	void f20ReleaseThatIsCarriedOutLateEndsNoLaterHoldOfItsInstance() {
		TcpProxy proxy = proxy();
		Instance late = instance(proxy.port(), true);
		LockTemplate other = lastingInstance();
		HeldLock first = late.locks().acquire(this.lasting);
		proxy.delayNext(late.store().instance());
		first.close();
		HeldLock second = late.locks().acquire(this.lasting.waitTime(SOON));
		assertThat(second.fencingToken()).isGreaterThan(first.fencingToken());
		deliver(proxy);
		verify(second);
		assertThat(other.tryAcquire(this.lasting.waitTime(Duration.ZERO))).isEmpty();
		second.close();
		other.acquire(this.lasting.waitTime(SOON)).close();
		awaitNothingLeft();
	}

	private static void deliver(TcpProxy proxy) {
		assertThat(proxy.isDelaying()).isTrue();
		proxy.restore();
		await().atMost(PATIENT).until(proxy::hasDelivered);
	}

	/** Those behind it wait for its grant or its session, and not for its lease. */
	@Test // defect 22
	@Tag("dead-waiter")
	void f23WaiterThatDiesIsPassedOverSoon() throws Exception {
		TcpProxy proxy = proxy();
		Instance dies = instance(proxy.port(), false);
		Instance next = instance(port(), true);
		HeldLock held = lastingInstance().acquire(this.lasting);
		// a first lease may be short
		verify(held);
		this.threads.submit(() -> dies.locks().acquire(this.lasting));
		awaitWaiting(1);
		Future<HeldLock> waits = this.threads.submit(() -> next.locks().acquire(this.lasting));
		awaitWaiting(2);
		proxy.stall();
		held.close();
		waits.get(SOON.toSeconds(), TimeUnit.SECONDS).close();
		// so that it ends soon
		proxy.restore();
	}

}
