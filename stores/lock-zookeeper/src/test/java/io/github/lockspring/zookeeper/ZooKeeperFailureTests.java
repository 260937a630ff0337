package io.github.lockspring.zookeeper;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.KeyedLock;
import io.github.lockspring.store.LockStore.AcquireRequest.QueueMode;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult.Acquired;
import io.github.lockspring.store.LockStore.AcquireResult.Busy;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.StoreHealth;
import io.github.lockspring.testsupport.network.TcpProxy.Cut;
import io.github.lockspring.testsupport.network.TcpProxy.Direction;
import io.github.lockspring.testsupport.network.TcpProxy;
import io.github.lockspring.testsupport.process.HolderProcess;
import io.github.lockspring.testsupport.process.JavaProcess;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.test.TestingZooKeeperServer;
import org.apache.zookeeper.CreateMode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What happens to locks when the server, the network or a session fails.
 */
class ZooKeeperFailureTests {

	private static final Duration SESSION = Duration.ofSeconds(3);

	private static final Duration PATIENT = Duration.ofSeconds(60);

	private final ZooKeeperTestServer server = ZooKeeperTestServer.start();

	private final List<ZooKeeperInstance> instances = new ArrayList<>();

	private final ExecutorService threads = Executors.newCachedThreadPool();

	private final LockRequest request = LockRequest.of("failure-" + UUID.randomUUID()).waitTime(PATIENT);

	/** For {@link #lasting() instances} that are not to lose the lock. */
	private final LockRequest lasting = this.request.ttl(PATIENT).renew(false);

	@AfterEach
	void stop() {
		this.instances.forEach(ZooKeeperInstance::close);
		this.threads.shutdownNow();
		this.server.close();
	}

	private ZooKeeperInstance instance() {
		return instance(this.server.port());
	}

	private ZooKeeperInstance instance(int port) {
		return instance(port, SESSION);
	}

	/** An instance whose session does not end although this machine is busy. */
	private ZooKeeperInstance lasting() {
		return instance(this.server.port(), PATIENT);
	}

	private ZooKeeperInstance instance(int port, Duration session) {
		ZooKeeperInstance instance = ZooKeeperInstance.on("127.0.0.1:" + port, session);
		this.instances.add(instance);
		return instance;
	}

	@Test
	void f22ServerThatIsKilledIsUnavailableAndLocksWorkWhenItIsBack() {
		ZooKeeperInstance holder = instance();
		HeldLock held = holder.locks().acquire(this.request);
		this.server.stop();
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> holder.locks().acquire(LockRequest.of("other").waitTime(Duration.ofMillis(500))))
			.withStackTraceContaining("ZooKeeper");
		await().atMost(PATIENT).until(() -> !held.isHeld());
		this.server.restart();
		try (HeldLock next = lasting().locks().acquire(this.lasting)) {
			assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
		}
		assertThatExceptionOfType(LockLostException.class).isThrownBy(held::close);
		await().atMost(PATIENT)
			.ignoreException(LockUnavailableException.class)
			.untilAsserted(() -> holder.locks().acquire(this.request).close());
	}

	@Test
	void f22ServerThatIsBackWithinTheLeaseCostsNoLock() {
		Duration tick = Duration.ofSeconds(2);
		try (ZooKeeperTestServer patient = ZooKeeperTestServer.start(tick);
				ZooKeeperInstance holder = ZooKeeperInstance.on("127.0.0.1:" + patient.port(), tick.multipliedBy(20));
				HeldLock held = holder.locks().acquire(this.request)) {
			patient.stop();
			patient.restart();
			await().atMost(PATIENT)
				.ignoreException(LockUnavailableException.class)
				.untilAsserted(((KeyedLock) held)::verify);
		}
	}

	@Test
	void f07HolderThatIsCutOffLosesItsLockBeforeAnotherGetsIt() {
		try (TcpProxy proxy = new TcpProxy(this.server.port())) {
			ZooKeeperInstance holder = instance(proxy.port());
			ZooKeeperInstance other = lasting();
			HeldLock held = holder.locks().acquire(this.request);
			proxy.stall();
			try (HeldLock next = other.locks().acquire(this.lasting)) {
				assertThat(held.isHeld()).isFalse();
				assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
			}
			proxy.restore();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(held::close);
		}
	}

	/** Again, if a request had no answer in time. */
	private static void verify(HeldLock lock) {
		await().ignoreException(LockUnavailableException.class).untilAsserted(((KeyedLock) lock)::verify);
	}

	@Test
	void f09SessionThatTheServerHasEndedIsFoundByTheNextRenewalAndTheNextOneKeepsItsLocks() {
		// a lease that lasts for longer than a busy machine takes to renew it
		ZooKeeperInstance holder = instance(this.server.port(), Duration.ofSeconds(15));
		ZooKeeperInstance other = lasting();
		HeldLock held = holder.locks().acquire(this.request);
		this.server.expire(holder.session());
		try (HeldLock next = other.locks().acquire(this.lasting)) {
			assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
			await().atMost(PATIENT).until(() -> !held.isHeld());
			assertThatExceptionOfType(LockLostException.class).isThrownBy(held::close)
				.withMessageContaining("the store says that another owner has it");
			verify(next);
		}
		try (HeldLock again = holder.locks().acquire(this.request)) {
			verify(again);
		}
	}

	/** The server has not noticed yet that the earlier session is over. */
	@Test
	void f09NodeThatAnEarlierSessionHasLeftIsNotTakenForTheOwnOne() throws Exception {
		String key = this.request.keys().get(0);
		OwnerToken token = new OwnerToken("A".repeat(22), 1, 5000);
		AcquireRequest request = new AcquireRequest(key, token, Duration.ofSeconds(30), QueueMode.JOIN);
		ZooKeeperStoreSettings settings = ZooKeeperTestServer.settings(SESSION);
		CuratorFramework earlier = this.server.client(PATIENT);
		earlier.start();
		try (LockStore store = ZooKeeperLockStore.create(this.server.client(SESSION), settings, true)) {
			earlier.create()
				.creatingParentContainersIfNeeded()
				.withMode(CreateMode.EPHEMERAL_SEQUENTIAL)
				.forPath(new LockPaths(settings.root()).entry(key, token.toString()));
			await().ignoreException(LockUnavailableException.class)
				.untilAsserted(() -> assertThat(store.acquire(request, PATIENT)).isInstanceOf(Busy.class));
			assertThat(store.acquire(request, PATIENT)).isInstanceOf(Busy.class);
			earlier.close();
			// on a busy machine the session's last answer may be too old for a lease
			await().ignoreException(LockUnavailableException.class)
				.untilAsserted(() -> assertThat(store.acquire(request, PATIENT)).isInstanceOf(Acquired.class));
		}
	}

	@Test
	void f09HolderThatWasStoppedBeyondItsSessionKnowsItAndTouchesNoLockOfTheNextOne(@TempDir Path directory) {
		String key = this.request.keys().get(0);
		ZooKeeperInstance other = lasting();
		try (JavaProcess holder = new JavaProcess("holder", directory, Holder.class,
				List.of("127.0.0.1:" + this.server.port(), key))) {
			long first = Long.parseLong(holder.await("token"));
			holder.signal("STOP");
			try (HeldLock next = other.locks().acquire(this.lasting)) {
				holder.signal("CONT");
				assertThat(holder.ask("held")).isEqualTo("false");
				assertThat(holder.ask("close")).isEqualTo("lost");
				verify(next);
				assertThat(next.fencingToken()).isGreaterThan(first);
				next.close();
				// again, if the session of the holder ends while it is not stopped
				await().until(() -> Long.parseLong(holder.ask("acquire")) > next.fencingToken()
						&& holder.ask("close").equals("released"));
			}
		}
	}

	/** A process that holds a lock. */
	static final class Holder {

		private Holder() {
		}

		public static void main(String[] args) {
			// the session counts, not the ttl
			HolderProcess.hold(ZooKeeperInstance.on(args[0], SESSION).locks(), args[1], PATIENT);
			System.exit(0);
		}

	}

	@Test
	void f11LeaderThatIsKilledCostsNoLockAndALostMajorityIsUnavailable() throws Exception {
		try (ZooKeeperEnsemble ensemble = new ZooKeeperEnsemble();
				ZooKeeperInstance patient = ZooKeeperInstance.on(ensemble.addresses(), PATIENT);
				ZooKeeperInstance brief = ZooKeeperInstance.on(ensemble.addresses(), SESSION)) {
			HeldLock held = patient.locks().acquire(this.request.ttl(PATIENT).renew(false));
			TestingZooKeeperServer leader = ensemble.leader();
			leader.kill();
			await().atMost(PATIENT)
				.ignoreException(LockUnavailableException.class)
				.untilAsserted(((KeyedLock) held)::verify);
			HeldLock lost = await().atMost(PATIENT)
				.ignoreException(LockUnavailableException.class)
				.until(() -> brief.locks().acquire(LockRequest.of("brief")), HeldLock::isHeld);
			ensemble.follower().kill();
			// by the clock of this process, since no server can end the session
			await().atMost(SESSION.multipliedBy(4)).until(() -> !lost.isHeld());
			// a request that is late on a busy machine has another reason
			await().untilAsserted(() -> assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> patient.locks().acquire(LockRequest.of("other").waitTime(Duration.ofSeconds(1))))
				.withStackTraceContaining("quorum"));
			await().untilAsserted(() -> {
				StoreHealth health = patient.store().health(Duration.ofSeconds(2)).orElseThrow();
				assertThat(health.isUsable()).isFalse();
				assertThat(health.servers()).singleElement()
					.satisfies((server) -> assertThat(server.problem()).contains("quorum"));
			});
			leader.restart();
			await().atMost(PATIENT).ignoreException(LockUnavailableException.class).untilAsserted(() -> {
				try (HeldLock next = patient.locks().acquire(LockRequest.of("brief"))) {
					assertThat(next.fencingToken()).isGreaterThan(lost.fencingToken());
				}
			});
			assertThatExceptionOfType(LockLostException.class).isThrownBy(lost::close);
			verify(held);
			held.close();
		}
	}

	@Test
	void f24WaiterWhoseSessionEndsQueuesAgain() throws Exception {
		ZooKeeperInstance holder = lasting();
		ZooKeeperInstance waiting = instance();
		HeldLock held = holder.locks().acquire(this.lasting);
		Future<HeldLock> waits = this.threads.submit(() -> waiting.locks().acquire(this.request));
		await().atMost(PATIENT).until(() -> this.server.entries() == 2);
		this.server.expire(waiting.session());
		await().atMost(PATIENT).until(() -> this.server.entries() == 2);
		held.close();
		waits.get(1, TimeUnit.MINUTES).close();
	}

	@Test
	void f24WaiterThatIsCutOffInTheQueueFindsItsTurnWhenItIsBack() throws Exception {
		try (TcpProxy proxy = new TcpProxy(this.server.port())) {
			ZooKeeperInstance holder = lasting();
			ZooKeeperInstance waiting = instance(proxy.port());
			HeldLock held = holder.locks().acquire(this.lasting);
			Future<HeldLock> waits = this.threads.submit(() -> waiting.locks().acquire(this.request));
			await().atMost(PATIENT).until(() -> this.server.entries() == 2);
			proxy.cut(Cut.RST);
			held.close();
			waits.get(1, TimeUnit.MINUTES).close();
		}
	}

	/** The node is created, and its caller does not learn of it. */
	@Test
	void f20NodeWhoseCreationGotNoAnswerIsRemoved() {
		try (TcpProxy proxy = new TcpProxy(this.server.port())) {
			ZooKeeperInstance deaf = instance(proxy.port());
			deaf.locks().acquire(LockRequest.of("first")).close();
			proxy.stall(Direction.TO_CLIENT);
			assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> deaf.locks().acquire(this.request.waitTime(Duration.ofSeconds(1))));
			proxy.restore();
			instance().locks().acquire(this.request).close();
			await().atMost(PATIENT).until(() -> this.server.entries() == 0);
		}
	}

	@Test
	void f23InstanceThatDiesLeavesItsLockWhenItsSessionEnds() {
		ZooKeeperInstance dies = lasting();
		dies.locks().acquire(this.lasting);
		try (TcpProxy proxy = new TcpProxy(this.server.port())) {
			ZooKeeperInstance silent = instance(proxy.port());
			this.threads.submit(() -> silent.locks().acquire(this.request));
			await().atMost(PATIENT).until(() -> this.server.entries() == 2);
			proxy.stall();
			dies.store().close();
			instance().locks().acquire(this.request).close();
		}
	}

	@Test
	void containersGoWithTheirLastEntry() {
		instance().locks().acquire(this.request).close();
		await().until(() -> this.server.entries() == 0);
		await().atMost(PATIENT).until(() -> this.server.locks().isEmpty());
	}

	@Test
	void fixedTtlBeyondTheLeaseOfASessionIsReachedAndEnds() {
		ZooKeeperInstance instance = instance();
		long begin = System.nanoTime();
		HeldLock held = instance.locks().acquire(this.request.ttl(Duration.ofSeconds(6)).renew(false));
		await().atMost(PATIENT).until(() -> !held.isHeld());
		// a look that comes late sees no lock end earlier
		assertThat(Duration.ofNanos(System.nanoTime() - begin)).isGreaterThan(Duration.ofSeconds(4));
		instance().locks().acquire(this.request.ttl(Duration.ofSeconds(5)).renew(false)).close();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(held::close);
	}

}
