package io.github.lockspring.zookeeper;

import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.KeyedLock;
import io.github.lockspring.internal.base.MonotonicClock;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult.Acquired;
import io.github.lockspring.store.LockStore.AcquireResult.Busy;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.StoreHealth;
import io.github.lockspring.testsupport.network.TcpProxy;
import io.github.lockspring.testsupport.process.HolderProcess;
import io.github.lockspring.testsupport.store.AbstractServerFailureTests;
import io.github.lockspring.testsupport.store.Instance;
import io.github.lockspring.testsupport.store.JoinedStore;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.test.TestingZooKeeperServer;
import org.apache.zookeeper.CreateMode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What happens to locks when the server, the network or a session fails.
 */
class ZooKeeperFailureTests extends AbstractServerFailureTests {

	/** Its first lease, a sixth, is longer than an election on a busy machine. */
	private static final Duration LONG_SESSION = Duration.ofMinutes(5);

	/** A third of its lease is as long as the client may take to connect again. */
	private static final Duration SESSION = Duration.ofSeconds(9);

	/** Its sessions may last for 20 ticks after a restart, and otherwise longer. */
	private final ZooKeeperTestServer server = ZooKeeperTestServer.start(SESSION.dividedBy(3));

	private final ExecutorService threads = Executors.newCachedThreadPool();

	private final LockRequest request = LockRequest.of(this.key).waitTime(PATIENT);

	/** For {@link #lasting() instances} that are not to lose the lock. */
	private final LockRequest lasting = this.request.ttl(PATIENT).renew(false);

	ZooKeeperFailureTests() {
		closeLater(this.server);
		closeLater(this.threads::shutdownNow);
	}

	@Override
	protected int port() {
		return this.server.port();
	}

	@Override
	protected void kill() {
		this.server.stop();
	}

	@Override
	protected void restart() {
		this.server.restart();
	}

	@Override
	protected LockStore store(int port, boolean lasting) {
		return store(port, lasting ? PATIENT : SESSION);
	}

	private static ZooKeeperLockStore store(int port, Duration session) {
		return ZooKeeperLockStore.builder("127.0.0.1:" + port).sessionTimeout(session).build();
	}

	/** The session counts, not the ttl. */
	@Override
	protected LockRequest brief() {
		return this.request.ttl(PATIENT);
	}

	/** Without the root, the acquisition would need several requests. */
	@Override
	protected void loseReplies(TcpProxy proxy) {
		this.server.keepRoot();
		super.loseReplies(proxy);
	}

	@Override
	protected String nameOfServer() {
		return "ZooKeeper";
	}

	@Override
	protected Class<?> holder() {
		return Holder.class;
	}

	/** A process that holds a lock. */
	static final class Holder {

		private Holder() {
		}

		public static void main(String[] args) {
			try (Instance instance = Instance.over(store(Integer.parseInt(args[0]), SESSION)).start()) {
				HolderProcess.hold(instance.locks(), args[1], PATIENT);
			}
			System.exit(0);
		}

	}

	private ZooKeeperInstance instance() {
		return instance(SESSION);
	}

	/** An instance whose session does not end although this machine is busy. */
	private ZooKeeperInstance lasting() {
		return instance(PATIENT);
	}

	private ZooKeeperInstance instance(Duration session) {
		ZooKeeperInstance instance = ZooKeeperInstance.on("127.0.0.1:" + this.server.port(), session);
		closeLater(instance);
		return instance;
	}

	/** Again, if a request had no answer in time. */
	private static void verify(HeldLock lock) {
		await().ignoreException(LockUnavailableException.class).untilAsserted(((KeyedLock) lock)::verify);
	}

	@Test
	@Tag("session-zookeeper")
	@Tag("zookeeper-sessions")
	void f09SessionThatTheServerHasEndedIsFoundByTheNextRenewalAndTheNextOneKeepsItsLocks() {
		// a lease that lasts for longer than a busy machine takes to renew it
		ZooKeeperInstance holder = instance(Duration.ofSeconds(30));
		ZooKeeperInstance other = lasting();
		HeldLock held = holder.locks().acquire(this.request);
		this.server.expire(holder.session());
		try (HeldLock next = other.locks().acquire(this.lasting)) {
			assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
			await().atMost(PATIENT).until(() -> !held.isHeld());
			assertThatExceptionOfType(LockLostException.class).isThrownBy(held::close)
				.withMessageContaining("according to the store, it has another owner");
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
		AcquireRequest request = new AcquireRequest(key, token, Duration.ofSeconds(30), true);
		ZooKeeperStoreSettings settings = ZooKeeperTestServer.settings(SESSION);
		CuratorFramework earlier = this.server.client(PATIENT);
		earlier.start();
		try (LockStore store = ZooKeeperLockStore.create(this.server.client(SESSION), settings, true,
				MonotonicClock.SYSTEM)) {
			earlier.create()
				.creatingParentContainersIfNeeded()
				.withMode(CreateMode.EPHEMERAL_SEQUENTIAL)
				.forPath(new LockPaths(settings.root()).entry(key, token.toString()));
			JoinedStore joined = new JoinedStore(store);
			await().ignoreException(LockUnavailableException.class)
				.untilAsserted(() -> assertThat(joined.acquire(request, PATIENT)).isInstanceOf(Busy.class));
			assertThat(joined.acquire(request, PATIENT)).isInstanceOf(Busy.class);
			earlier.close();
			// on a busy machine the session's last answer may be too old for a lease
			await().ignoreException(LockUnavailableException.class)
				.untilAsserted(() -> assertThat(joined.acquire(request, PATIENT)).isInstanceOf(Acquired.class));
		}
	}

	@Test
	@Tag("leader-zookeeper")
	void f11LeaderThatIsKilledCostsNoLockAndALostMajorityIsUnavailable() throws Exception {
		try (ZooKeeperEnsemble ensemble = new ZooKeeperEnsemble();
				ZooKeeperInstance patient = ZooKeeperInstance.on(ensemble.addresses(), LONG_SESSION);
				ZooKeeperInstance brief = ZooKeeperInstance.on(ensemble.addresses(), SESSION)) {
			HeldLock held = patient.locks().acquire(this.request.ttl(LONG_SESSION).renew(false));
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
				// the new leader gives a session that is over some time to come back
				try (HeldLock next = patient.locks().acquire(LockRequest.of("brief").waitTime(PATIENT))) {
					assertThat(next.fencingToken()).isGreaterThan(lost.fencingToken());
				}
			});
			assertThatExceptionOfType(LockLostException.class).isThrownBy(lost::close);
			verify(held);
			held.close();
		}
	}

	@Test
	@Tag("missed-turn")
	@Tag("zookeeper-sessions")
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

	/** Z4, 5: nobody else wants the lock, so no token is larger. */
	@Test
	void f10HolderWhoseNodeWasTakenAwayLearnsItAtItsEnd() {
		ZooKeeperInstance holder = lasting();
		HeldLock held = holder.locks().acquire(this.lasting);
		this.server.deleteAll();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(held::close);
	}

	@Test
	@Tag("remains-zookeeper")
	void containersGoWithTheirLastEntry() {
		instance().locks().acquire(this.request).close();
		await().until(() -> this.server.entries() == 0);
		await().atMost(PATIENT).until(() -> this.server.locks().isEmpty());
	}

	@Test
	@Tag("fixed-ttl-zookeeper")
	@Tag("zookeeper-without-renewal")
	void fixedTtlBeyondTheLeaseOfASessionIsReachedAndEnds() {
		ZooKeeperInstance instance = instance();
		long begin = System.nanoTime();
		HeldLock held = instance.locks().acquire(this.request.ttl(SESSION.multipliedBy(2)).renew(false));
		await().atMost(PATIENT).until(() -> !held.isHeld());
		// a look that comes late sees no lock end earlier
		assertThat(Duration.ofNanos(System.nanoTime() - begin)).isGreaterThan(SESSION);
		instance().locks().acquire(this.request.ttl(SESSION).renew(false)).close();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(held::close);
	}

}
