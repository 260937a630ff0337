package io.github.lockspring.testsupport.store;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.LockStoreInspector;
import io.github.lockspring.testsupport.network.TcpProxy;
import io.github.lockspring.testsupport.network.TcpProxy.Cut;
import io.github.lockspring.testsupport.network.TcpProxy.Direction;
import io.github.lockspring.testsupport.process.JavaProcess;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The behaviour of a lock when the server of a store, the way to it, or a process fails.
 *
 * @since 0.1
 */
public abstract class AbstractServerFailureTests extends AbstractConnectionFailureTests {

	/** Kills the server, which keeps what it has acknowledged. */
	protected abstract void kill();

	/** Starts the server again. */
	protected abstract void restart();

	/**
	 * Returns a request of the key whose lease ends a few seconds after the last reply.
	 */
	protected abstract LockRequest brief();

	/** Returns a word by which an exception names the server. */
	protected abstract String nameOfServer();

	/**
	 * Returns a class with a main that calls
	 * {@link io.github.lockspring.testsupport.process.HolderProcess#hold}; its arguments
	 * are the port and the key.
	 */
	protected abstract Class<?> holder();

	/** From the next acquisition on, replies of the server are lost. */
	protected void loseReplies(TcpProxy proxy) {
		proxy.stall(Direction.TO_CLIENT);
	}

	private LockTemplate briefInstance(TcpProxy proxy) {
		return instance(proxy.port(), false).locks();
	}

	private static void assertUnavailable(LockTemplate locks, LockRequest request, String word) {
		// a busy driver takes time to say why it has no answer; leases end meanwhile
		Duration waitTime = Duration.ofSeconds(2);
		long start = System.nanoTime();
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> locks.acquire(request.waitTime(waitTime)))
			.withStackTraceContaining(word);
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(waitTime.plus(SOON));
	}

	/** The next holder has a larger token, and the former one learns that it lost. */
	private void assertLost(HeldLock held, LockTemplate other) {
		try (HeldLock next = other.acquire(this.lasting)) {
			assertThat(held.isHeld()).isFalse();
			assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
		}
		assertThatExceptionOfType(LockLostException.class).isThrownBy(held::close);
	}

	@Test
	@Tag("restart")
	void f22ServerThatIsKilledIsUnavailableAndALeaseThatItOutlivesIsLost() {
		TcpProxy proxy = proxy();
		LockTemplate locks = briefInstance(proxy);
		HeldLock held = locks.acquire(brief());
		kill();
		try {
			assertUnavailable(locks, LockRequest.of("other"), nameOfServer());
			await().atMost(PATIENT).until(() -> !held.isHeld());
		}
		finally {
			restart();
		}
		assertLost(held, lastingInstance());
		await().atMost(PATIENT)
			.ignoreException(LockUnavailableException.class)
			.untilAsserted(() -> locks.acquire(brief()).close());
	}

	@Test
	@Tag("restart")
	void f22ServerThatIsBackWithinALeaseRemembersTheLock() {
		LockTemplate holder = lastingInstance();
		LockTemplate other = lastingInstance();
		HeldLock held = holder.acquire(this.lasting);
		kill();
		try {
			assertUnavailable(other, this.lasting, nameOfServer());
			assertThat(held.isHeld()).isTrue();
		}
		finally {
			restart();
		}
		await().atMost(PATIENT)
			.ignoreException(LockUnavailableException.class)
			.untilAsserted(() -> assertThatExceptionOfType(LockNotAcquiredException.class)
				.isThrownBy(() -> other.acquire(this.lasting.waitTime(Duration.ZERO))));
		verify(held);
		held.close();
		try (HeldLock next = other.acquire(this.lasting)) {
			assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
		}
	}

	@Test
	@Tag("silence")
	void f22ServerThatIsSilentEndsNoWaitLateAndLosesALeaseThatItOutlives() {
		TcpProxy proxy = proxy();
		LockTemplate locks = briefInstance(proxy);
		HeldLock held = locks.acquire(brief());
		proxy.hold();
		assertUnavailable(locks, LockRequest.of("other"), "other");
		await().atMost(PATIENT).until(() -> !held.isHeld());
		proxy.restore();
		assertLost(held, lastingInstance());
	}

	@Test
	@Tag("cut-off")
	void f07HolderThatIsCutOffLosesItsLockBeforeAnotherGetsIt() {
		TcpProxy proxy = proxy();
		HeldLock held = briefInstance(proxy).acquire(brief());
		LockTemplate other = lastingInstance();
		proxy.stall();
		try (HeldLock next = other.acquire(this.lasting)) {
			assertThat(held.isHeld()).isFalse();
			assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
		}
		proxy.restore();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(held::close);
	}

	@Test
	@Tag("paused")
	void f09HolderThatWasStoppedBeyondItsLeaseKnowsItAndTouchesNoLaterLock(@TempDir Path directory) {
		LockTemplate other = lastingInstance();
		try (JavaProcess holder = new JavaProcess("holder", directory, holder(),
				List.of(String.valueOf(port()), this.key))) {
			long first = Long.parseLong(holder.await("token"));
			holder.signal("STOP");
			HeldLock next = other.acquire(this.lasting);
			holder.signal("CONT");
			assertThat(holder.ask("held")).isEqualTo("false");
			assertThat(holder.ask("close")).isEqualTo("lost");
			verify(next);
			assertThat(next.fencingToken()).isGreaterThan(first);
			next.close();
			// again, if the lease of the holder ends on a busy machine
			await().until(() -> Long.parseLong(holder.ask("acquire")) > next.fencingToken()
					&& holder.ask("close").equals("released"));
		}
	}

	/** The lock is acquired, and its caller does not learn of it. */
	@Test
	@Tag("lost-reply")
	void f20LockWhoseAcquisitionGotNoReplyIsReleased() throws Exception {
		TcpProxy proxy = proxy();
		LockStoreInspector inspector = inspector();
		stored(inspector);
		LockTemplate deaf = instance(proxy.port(), true).locks();
		// so the next acquisition needs one request, on a connection that was just used
		deaf.acquire(this.lasting).close();
		loseReplies(proxy);
		Future<?> acquisition = this.threads
			.submit(() -> assertUnavailable(deaf, this.lasting.ttl(PATIENT.multipliedBy(5)), this.key));
		await().atMost(PATIENT).pollInterval(Duration.ofMillis(20)).until(() -> stored(inspector).isPresent());
		acquisition.get(1, TimeUnit.MINUTES);
		proxy.restore();
		lastingInstance().acquire(this.lasting).close();
		awaitNothingLeft();
	}

	@Test
	@Tag("missed-turn")
	void f24WaiterThatIsCutOffInTheQueueFindsItsTurnWhenItIsBack() throws Exception {
		TcpProxy proxy = proxy();
		LockTemplate waiting = briefInstance(proxy);
		HeldLock held = lastingInstance().acquire(this.lasting);
		Future<HeldLock> waits = this.threads.submit(() -> waiting.acquire(this.lasting));
		awaitWaiting(1);
		proxy.cut(Cut.RST);
		held.close();
		waits.get(SOON.toSeconds(), TimeUnit.SECONDS).close();
		awaitNothingLeft();
	}

}
