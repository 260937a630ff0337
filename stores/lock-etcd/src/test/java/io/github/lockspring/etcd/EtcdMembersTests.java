package io.github.lockspring.etcd;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import io.etcd.jetcd.Client;
import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.testsupport.etcd.EtcdProcess;
import io.github.lockspring.testsupport.etcd.RequiresEtcd;
import io.github.lockspring.testsupport.store.Instance;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Members that do not answer, and servers whose data was replaced.
 */
@RequiresEtcd
class EtcdMembersTests {

	private static final Duration PATIENT = Duration.ofSeconds(60);

	private final Deque<AutoCloseable> resources = new ArrayDeque<>();

	@AfterEach
	void close() throws Exception {
		while (!this.resources.isEmpty()) {
			this.resources.pop().close();
		}
	}

	private <T extends AutoCloseable> T closing(T resource) {
		this.resources.push(resource);
		return resource;
	}

	private static Supplier<Client> client(EtcdProcess member, Faults faults) {
		return () -> Clients.builder(member.address()).header("hasleader", "true").interceptor(faults).build();
	}

	/** Number 21: without the other members, each of these locks is lost. */
	@Test
	@Tag("silent-member-etcd")
	void locksOutliveTheSilenceOfTheMemberInUse() throws Exception {
		List<EtcdProcess> members = EtcdProcess.members(3);
		members.forEach(this::closing);
		members.forEach(EtcdProcess::awaitUsable);
		List<Faults> faults = List.of(new Faults(), new Faults(), new Faults());
		EtcdLockStore store = EtcdLockStore
			.builder(IntStream.range(0, 3).mapToObj((i) -> client(members.get(i), faults.get(i))).toList())
			.commandTimeout(Duration.ofSeconds(10))
			.build();
		LockTemplate locks = closing(Instance.over(store).start()).locks();
		List<HeldLock> held = new ArrayList<>();
		for (int i = 0; i < 20; i++) {
			held.add(locks.acquire(LockRequest.of("silent-" + i).ttl(Duration.ofSeconds(5)).waitTime(PATIENT)));
		}
		int used = IntStream.range(0, 3)
			.filter((i) -> faults.get(i).sent(Faults.ADDITION) > 0)
			.findFirst()
			.orElseThrow();
		members.get(used).pause();
		Thread.sleep(9_000);
		try {
			assertThat(held).allMatch(HeldLock::isHeld);
			// before it goes on: a former leader may end renewed leases (etcd#15247)
			held.forEach(HeldLock::close);
		}
		finally {
			members.get(used).resume();
		}
	}

	/** It has no majority: without the header it would wait for one. */
	@Test
	@Tag("no-leader-etcd")
	void memberWithoutALeaderAnswersAtOnce() throws Exception {
		List<EtcdProcess> members = EtcdProcess.members(3, "--heartbeat-interval", "50", "--election-timeout", "300");
		members.forEach(this::closing);
		members.forEach(EtcdProcess::awaitUsable);
		EtcdProcess left = members.get(0);
		EtcdLockStore store = EtcdLockStore.builder(client(left, new Faults()))
			.commandTimeout(Duration.ofSeconds(20))
			.build();
		LockTemplate locks = closing(Instance.over(store).commandTimeout(Duration.ofSeconds(20)).start()).locks();
		locks.acquire(LockRequest.of("leader").waitTime(PATIENT)).close();
		members.get(1).kill();
		members.get(2).kill();
		Thread.sleep(2_000);
		long start = System.nanoTime();
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> locks.acquire(LockRequest.of("leader").waitTime(Duration.ZERO)))
			.withStackTraceContaining("no leader");
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(3));
	}

	@Test
	void memberThatRefusesConnectionsIsPassedOverWithoutAFailure() {
		List<EtcdProcess> members = EtcdProcess.members(3);
		members.forEach(this::closing);
		members.forEach(EtcdProcess::awaitUsable);
		members.get(1).kill();
		await().atMost(PATIENT).until(() -> members.get(0).isLeader() || members.get(2).isLeader());
		for (int first = 0; first < 3; first++) {
			List<EtcdConnection> connections = members.stream()
				.map((member) -> new EtcdConnection(client(member, new Faults()), Duration.ofSeconds(30), PATIENT,
						PATIENT))
				.toList();
			try (EtcdMembers cluster = new EtcdMembers(connections, first)) {
				assertThat(cluster.transact(List.of(), List.of(), List.of())).succeedsWithin(PATIENT);
			}
		}
	}

	/**
	 * E19: the restore brings back an entry that was removed since, on a lease that this
	 * instance renews.
	 */
	@Test
	@Tag("restore-etcd")
	void entriesThatARestoreBringsBackEndAndTheLocksAreLost() {
		EtcdProcess server = closing(EtcdProcess.alone());
		EtcdLockStore store = EtcdLockStore.builder(() -> Clients.of(server.address())).build();
		LockTemplate locks = closing(Instance.over(store).start()).locks();
		LockRequest other = LockRequest.of("other").ttl(Duration.ofSeconds(5)).waitTime(PATIENT);
		HeldLock removed = locks.acquire(LockRequest.of("removed").ttl(Duration.ofSeconds(5)).waitTime(PATIENT));
		server.backUp();
		await().atMost(PATIENT).ignoreExceptions().untilAsserted(removed::close);
		await().atMost(PATIENT).until(() -> server.entries("removed") == 0);
		for (int i = 0; i < 10; i++) {
			// revisions that are gone afterwards
			locks.acquire(LockRequest.of("more").waitTime(PATIENT)).close();
		}
		HeldLock held = locks.acquire(other);
		server.restore();
		assertThat(server.entries("removed")).isOne();
		await().atMost(PATIENT).until(() -> !held.isHeld());
		// keeps a lease of that length in use
		HeldLock again = locks.acquire(other);
		// another instance: this one would find its own entry
		EtcdLockStore second = EtcdLockStore.builder(() -> Clients.of(server.address())).build();
		LockTemplate others = closing(Instance.over(second).start()).locks();
		others.acquire(LockRequest.of("removed").ttl(Duration.ofSeconds(5)).waitTime(Duration.ofSeconds(30))).close();
		again.close();
	}

}
