package io.github.lockspring.etcd;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import io.etcd.jetcd.ClientBuilder;
import io.github.lockspring.HeldLock;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.KeyedLock;
import io.github.lockspring.internal.engine.EngineSettings;
import io.github.lockspring.internal.engine.LockEngine;
import io.github.lockspring.internal.engine.support.LockEvents;
import io.github.lockspring.store.StoreHealth;
import io.github.lockspring.testsupport.etcd.EtcdProcess;
import io.github.lockspring.testsupport.etcd.RequiresEtcd;
import io.github.lockspring.testsupport.network.TcpProxy.Cut;
import io.github.lockspring.testsupport.network.TcpProxy.Direction;
import io.github.lockspring.testsupport.network.TcpProxy;
import io.github.lockspring.testsupport.process.HolderProcess;
import io.github.lockspring.testsupport.process.JavaProcess;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.MethodDescriptor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What happens to locks when the server, the network or a majority fails.
 */
@RequiresEtcd
class EtcdFailureTests {

	private static final Duration PATIENT = Duration.ofSeconds(60);

	private static final Duration TTL = Duration.ofSeconds(3);

	private final List<AutoCloseable> opened = new ArrayList<>();

	private final ExecutorService threads = Executors.newCachedThreadPool();

	private final LockRequest request = LockRequest.of("failure-" + UUID.randomUUID()).ttl(TTL).waitTime(PATIENT);

	/** Not lost on a busy machine. */
	private final LockRequest lasting = this.request.ttl(PATIENT);

	@AfterEach
	void stop() throws Exception {
		for (int i = this.opened.size() - 1; i >= 0; i--) {
			this.opened.get(i).close();
		}
		this.threads.shutdownNow();
	}

	private LockTemplate instance(String... addresses) {
		return instance(EtcdLockStore.builder(clients(addresses)).build());
	}

	private Clients.Counted clients(String... addresses) {
		Clients.Counted clients = new Clients.Counted(Clients.builder(addresses));
		this.opened.add(clients);
		return clients;
	}

	private LockTemplate instance(EtcdLockStore store) {
		EngineSettings defaults = EngineSettings.defaults();
		LockEngine engine = new LockEngine(store, new EngineSettings(defaults.ttl(), defaults.waitTime(), null,
				Duration.ofSeconds(2), Duration.ofMillis(100), false), LockEvents.NOBODY);
		this.opened.add(store);
		this.opened.add(engine);
		return engine.template();
	}

	private EtcdProcess server() {
		EtcdProcess server = EtcdProcess.alone();
		this.opened.add(server);
		return server;
	}

	@Test
	void f22ServerThatIsKilledIsUnavailableAndLocksWorkWhenItIsBack() {
		EtcdProcess server = server();
		LockTemplate locks = instance(server.address());
		HeldLock held = locks.acquire(this.request);
		server.kill();
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> locks.acquire(LockRequest.of("other").waitTime(Duration.ofMillis(500))))
			.withStackTraceContaining("etcd");
		await().atMost(PATIENT).until(() -> !held.isHeld());
		server.start();
		server.awaitUsable();
		try (HeldLock next = instance(server.address()).acquire(this.lasting)) {
			assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
		}
		assertThatExceptionOfType(LockLostException.class).isThrownBy(held::close);
	}

	@Test
	void f22ServerThatIsPausedEndsNoWaitLateAndLosesALeaseThatItOutlives() {
		EtcdProcess server = server();
		LockTemplate locks = instance(server.address());
		HeldLock held = locks.acquire(this.request);
		server.pause();
		try {
			assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> locks.acquire(LockRequest.of("other").waitTime(Duration.ofMillis(500))));
			await().atMost(PATIENT).until(() -> !held.isHeld());
		}
		finally {
			server.resume();
		}
		try (HeldLock next = instance(server.address()).acquire(this.lasting)) {
			assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
		}
		assertThatExceptionOfType(LockLostException.class).isThrownBy(held::close);
	}

	@Test
	void f07HolderThatIsCutOffLosesItsLockBeforeAnotherGetsIt() {
		EtcdProcess server = EtcdProcess.shared();
		try (TcpProxy proxy = new TcpProxy(server.port())) {
			HeldLock held = instance("http://127.0.0.1:" + proxy.port()).acquire(this.request);
			proxy.stall();
			try (HeldLock next = instance(server.address()).acquire(this.lasting)) {
				assertThat(held.isHeld()).isFalse();
				assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
			}
			proxy.restore();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(held::close);
		}
	}

	@Test
	void f09HolderThatWasStoppedBeyondItsLeaseKnowsItAndTouchesNoLaterLock(@TempDir Path directory) {
		EtcdProcess server = EtcdProcess.shared();
		String key = this.request.keys().get(0);
		try (JavaProcess holder = new JavaProcess("holder", directory, Holder.class, List.of(server.address(), key))) {
			long first = Long.parseLong(holder.await("token"));
			holder.signal("STOP");
			try (HeldLock next = instance(server.address()).acquire(this.lasting)) {
				holder.signal("CONT");
				assertThat(holder.ask("held")).isEqualTo("false");
				assertThat(holder.ask("close")).isEqualTo("lost");
				await().ignoreException(LockUnavailableException.class).untilAsserted(((KeyedLock) next)::verify);
				assertThat(next.fencingToken()).isGreaterThan(first);
			}
		}
	}

	/** A process that holds a lock. */
	static final class Holder {

		private Holder() {
		}

		public static void main(String[] args) {
			EtcdLockStore store = EtcdLockStore.builder(() -> Clients.of(args[0])).build();
			HolderProcess.hold(new LockEngine(store, EngineSettings.defaults(), LockEvents.NOBODY).template(), args[1],
					TTL);
		}

	}

	/** The key is created, and its caller does not learn of it. Its lease would last. */
	@Test
	void f20KeyWhoseCreationGotNoAnswerIsRemoved() {
		EtcdProcess server = EtcdProcess.shared();
		LockRequest request = this.request.ttl(PATIENT.multipliedBy(5));
		try (TcpProxy proxy = new TcpProxy(server.port())) {
			AtomicBoolean armed = new AtomicBoolean();
			ClientBuilder client = Clients.builder("http://127.0.0.1:" + proxy.port())
				.interceptor(beforeTransactions(() -> {
					if (armed.getAndSet(false)) {
						proxy.stall(Direction.TO_CLIENT);
					}
				}));
			LockTemplate deaf = instance(EtcdLockStore.builder(client::build).build());
			deaf.acquire(LockRequest.of("first")).close();
			armed.set(true);
			assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> deaf.acquire(request.waitTime(Duration.ofSeconds(1))));
			assertThat(armed).as("the key was created").isFalse();
			proxy.restore();
			instance(server.address()).acquire(request).close();
			await().atMost(PATIENT).until(() -> server.entries(this.request.keys().get(0)) == 0);
		}
	}

	/** An answer that is lost earlier is that to the grant of the lease. */
	private static ClientInterceptor beforeTransactions(Runnable action) {
		return new ClientInterceptor() {

			@Override
			public <Q, R> ClientCall<Q, R> interceptCall(MethodDescriptor<Q, R> method, CallOptions options,
					Channel next) {
				if (method.getFullMethodName().endsWith("/Txn")) {
					action.run();
				}
				return next.newCall(method, options);
			}

		};
	}

	@Test
	void f23InstancesThatDieLeaveTheQueueWhenTheirLeasesEnd() {
		EtcdProcess server = EtcdProcess.shared();
		try (TcpProxy proxy = new TcpProxy(server.port())) {
			LockTemplate dies = instance("http://127.0.0.1:" + proxy.port());
			LockTemplate waits = instance("http://127.0.0.1:" + proxy.port());
			dies.acquire(this.request);
			this.threads.submit(() -> waits.acquire(this.request));
			await().atMost(PATIENT).until(() -> server.entries(this.request.keys().get(0)) == 2);
			proxy.stall();
			instance(server.address()).acquire(this.request).close();
		}
	}

	@Test
	void f24WaiterThatIsCutOffInTheQueueFindsItsTurnWhenItIsBack() throws Exception {
		EtcdProcess server = server();
		try (TcpProxy proxy = new TcpProxy(server.port())) {
			HeldLock held = instance(server.address()).acquire(this.lasting);
			LockTemplate waiting = instance("http://127.0.0.1:" + proxy.port());
			Future<HeldLock> waits = this.threads.submit(() -> waiting.acquire(this.request));
			await().atMost(PATIENT).until(() -> server.entries(this.request.keys().get(0)) == 2);
			proxy.cut(Cut.RST);
			held.close();
			waits.get(1, TimeUnit.MINUTES).close();
			await().atMost(PATIENT).until(() -> server.entries(this.request.keys().get(0)) == 0);
		}
	}

	@Test
	void f11LeaderThatIsKilledCostsNoLockAndALostMajorityIsUnavailable() {
		List<EtcdProcess> members = EtcdProcess.members(3);
		this.opened.addAll(members);
		members.forEach(EtcdProcess::awaitUsable);
		String[] addresses = members.stream().map(EtcdProcess::address).toArray(String[]::new);
		EtcdLockStore store = EtcdLockStore.builder(clients(addresses)).build();
		LockTemplate locks = instance(store);
		// none leads during an election
		EtcdProcess leader = await().atMost(PATIENT)
			.until(() -> members.stream().filter(EtcdProcess::isLeader).findFirst(), Optional::isPresent)
			.orElseThrow();
		HeldLock held = locks.acquire(this.request.ttl(Duration.ofSeconds(30)));
		leader.kill();
		await().atMost(PATIENT)
			.ignoreException(LockUnavailableException.class)
			.untilAsserted(((KeyedLock) held)::verify);
		members.stream().filter((member) -> member != leader).findFirst().orElseThrow().kill();
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> locks.acquire(LockRequest.of("other").waitTime(Duration.ofSeconds(1))));
		StoreHealth health = store.health(Duration.ofSeconds(5)).orElseThrow();
		assertThat(health.isUsable()).isFalse();
		assertThat(health.servers()).singleElement()
			.satisfies((server) -> assertThat(server.problem()).contains("Check distributed-lock.etcd.endpoints"));
		leader.start();
		leader.awaitUsable();
		await().atMost(PATIENT)
			.ignoreException(LockUnavailableException.class)
			.untilAsserted(() -> locks.acquire(LockRequest.of("other")).close());
	}

}
