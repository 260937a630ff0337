package io.github.lockspring.etcd;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.KeyedLock;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.StoreHealth;
import io.github.lockspring.testsupport.etcd.EtcdProcess;
import io.github.lockspring.testsupport.etcd.RequiresEtcd;
import io.github.lockspring.testsupport.network.TcpProxy;
import io.github.lockspring.testsupport.network.TcpProxy.Direction;
import io.github.lockspring.testsupport.process.HolderProcess;
import io.github.lockspring.testsupport.store.AbstractServerFailureTests;
import io.github.lockspring.testsupport.store.Instance;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.MethodDescriptor;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What happens to locks when the server, the network or a majority fails.
 */
@RequiresEtcd
class EtcdFailureTests extends AbstractServerFailureTests {

	private static final Duration TTL = Duration.ofSeconds(3);

	/** Whether replies are lost from the next transaction on. */
	private final AtomicReference<TcpProxy> losing = new AtomicReference<>();

	private final EtcdProcess server = EtcdProcess.alone();

	EtcdFailureTests() {
		closeLater(this.server);
	}

	@Override
	protected int port() {
		return this.server.port();
	}

	@Override
	protected void kill() {
		this.server.kill();
	}

	@Override
	protected void restart() {
		this.server.start();
		this.server.awaitUsable();
	}

	@Override
	protected LockStore store(int port, boolean lasting) {
		return store("http://127.0.0.1:" + port);
	}

	private EtcdLockStore store(String... addresses) {
		List<Clients.Counted> clients = Stream.of(addresses).map(this::client).toList();
		clients.forEach(this::closeLater);
		return EtcdLockStore.builder(clients).build();
	}

	private Clients.Counted client(String address) {
		return new Clients.Counted(Clients.builder(address).interceptor(beforeTransactions(() -> {
			TcpProxy proxy = this.losing.getAndSet(null);
			if (proxy != null) {
				proxy.stall(Direction.TO_CLIENT);
			}
		})));
	}

	@Override
	protected LockRequest brief() {
		return LockRequest.of(this.key).ttl(TTL).waitTime(PATIENT);
	}

	@Override
	protected String nameOfServer() {
		return "etcd";
	}

	/** A reply that is lost earlier is that to the grant of the lease. */
	@Override
	protected void loseReplies(TcpProxy proxy) {
		this.losing.set(proxy);
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
			EtcdLockStore store = EtcdLockStore.builder(() -> Clients.of("http://127.0.0.1:" + args[0])).build();
			try (Instance instance = Instance.over(store).start()) {
				HolderProcess.hold(instance.locks(), args[1], TTL);
			}
		}

	}

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
	@Tag("leader-etcd")
	void f11LeaderThatIsKilledCostsNoLockAndALostMajorityIsUnavailable() {
		List<EtcdProcess> members = EtcdProcess.members(3);
		members.forEach(this::closeLater);
		members.forEach(EtcdProcess::awaitUsable);
		String[] addresses = members.stream().map(EtcdProcess::address).toArray(String[]::new);
		EtcdLockStore store = store(addresses);
		Instance instance = Instance.over(store).commandTimeout(Duration.ofSeconds(2)).start();
		closeLater(instance);
		LockTemplate locks = instance.locks();
		// none leads during an election
		EtcdProcess leader = await().atMost(PATIENT)
			.until(() -> members.stream().filter(EtcdProcess::isLeader).findFirst(), Optional::isPresent)
			.orElseThrow();
		HeldLock held = locks.acquire(brief().ttl(Duration.ofSeconds(30)));
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
