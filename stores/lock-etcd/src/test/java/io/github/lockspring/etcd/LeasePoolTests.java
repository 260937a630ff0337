package io.github.lockspring.etcd;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.options.GetOption;
import io.github.lockspring.internal.queue.Entry;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult.Acquired;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult.Released;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.testsupport.etcd.EtcdProcess;
import io.github.lockspring.testsupport.etcd.RequiresEtcd;
import io.github.lockspring.testsupport.store.JoinedStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Leases that are used for one key after the other, on a server of their own.
 */
@RequiresEtcd
class LeasePoolTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(20);

	private static final Duration TTL = Duration.ofMinutes(10);

	private static final String INSTANCE = "lease-pool-tests-00001";

	private final String key = "pool-" + UUID.randomUUID();

	private final EtcdProcess server = EtcdProcess.alone();

	private final Client client = Clients.of(this.server.address());

	private final EtcdLockStore store = EtcdLockStore.builder(this.client)
		.commandTimeout(TIMEOUT)
		.connectTimeout(TIMEOUT)
		.build();

	private final EtcdServer entries = new EtcdServer(new EtcdConnection(this.client, TIMEOUT),
			new EtcdStoreSettings("lock:", TIMEOUT, TIMEOUT));

	private final JoinedStore joined = new JoinedStore(this.store);

	private int sequence;

	@AfterEach
	void close() {
		this.entries.close();
		this.store.close();
		this.client.close();
		this.server.close();
	}

	private OwnerToken acquire(String key) {
		OwnerToken token = new OwnerToken(INSTANCE, ++this.sequence, 5000);
		assertThat(this.joined.acquire(new AcquireRequest(key, token, TTL, true), TIMEOUT))
			.isInstanceOf(Acquired.class);
		return token;
	}

	private void release(String key, OwnerToken token) {
		assertThat(this.joined.release(new ReleaseRequest(key, token), TIMEOUT)).isInstanceOf(Released.class);
	}

	/** Returns the lease of the only key in the queue of a lock. */
	private long lease(String key) {
		List<KeyValue> found = this.client.getKVClient()
			.get(ByteSequence.from("lock:" + key + "/", StandardCharsets.UTF_8),
					GetOption.builder().isPrefix(true).build())
			.join()
			.getKvs();
		assertThat(found).hasSize(1);
		return found.get(0).getLease();
	}

	@Test
	@Tag("remains-etcd")
	void locksThatFollowEachOtherUseTheSameLeaseWhichIsRevokedAfterASecond() {
		OwnerToken first = acquire(this.key);
		long lease = lease(this.key);
		release(this.key, first);
		long begin = System.nanoTime();
		OwnerToken second = acquire("other-" + this.key);
		// unless this took so long that it was revoked
		assertThat(lease("other-" + this.key) == lease || System.nanoTime() - begin > 500_000_000).isTrue();
		release("other-" + this.key, second);
		await().atMost(TIMEOUT).until(() -> this.server.leases() == 0);
	}

	@Test
	void locksThatAreHeldAtTheSameTimeHaveLeasesOfTheirOwn() {
		OwnerToken first = acquire(this.key);
		release(this.key, first);
		OwnerToken second = acquire(this.key);
		OwnerToken other = acquire("other-" + this.key);
		assertThat(lease(this.key)).isNotEqualTo(lease("other-" + this.key));
		// a repeated release of the first lock finds nothing, and ends no lease
		this.joined.release(new ReleaseRequest(this.key, first), TIMEOUT);
		release("other-" + this.key, other);
		await().atMost(TIMEOUT).until(() -> this.server.leases() == 1);
		release(this.key, second);
	}

	@Test
	void leaseThatIsKeptMayBeGone() {
		OwnerToken first = acquire(this.key);
		long lease = lease(this.key);
		release(this.key, first);
		// unless the pool has just done so itself
		this.client.getLeaseClient().revoke(lease).handle((response, ex) -> ex == null).join();
		OwnerToken second = acquire(this.key);
		assertThat(lease(this.key)).isNotEqualTo(lease);
		release(this.key, second);
	}

	@Test
	void closedStoreLeavesNoLease() {
		release(this.key, acquire(this.key));
		long begin = System.nanoTime();
		this.store.close();
		boolean gaveUp = System.nanoTime() - begin >= 500_000_000;
		assertThat(gaveUp || this.server.leases() == 0).isTrue();
	}

	/** Otherwise the write would revoke a lease that another lock may have by then. */
	@Test
	void leaseThatWasTakenIsNotReplaced() {
		EtcdEntry.Mine mine = new EtcdEntry.Mine(
				new EtcdEntry(ByteSequence.from("key", StandardCharsets.UTF_8), "token", 1, 7));
		LeasePool.Lease next = new LeasePool.Lease(8, 2, System.nanoTime());
		assertThat(mine.takeLease().id()).isEqualTo(7);
		assertThat(mine.replaceLease(7, next)).isFalse();
		assertThat(mine.lease()).isEqualTo(EtcdEntry.NO_LEASE);
	}

	@Test
	void entryThatIsBeingRemovedIsNotWritten() {
		Entry.Own entry = add();
		CompletionStage<Boolean> writing = this.entries.write(entry, "700000", 700_000);
		CompletionStage<Boolean> removing = this.entries.remove(entry);
		assertThat(join(removing)).isTrue();
		// it may have ended before the removal began; one lease is left in either case
		join(writing);
		Entry.Own next = add();
		await().atMost(TIMEOUT).until(() -> this.server.leases() == 1);
		LeasePool.Lease taken = ((EtcdEntry.Mine) next).takeLease();
		assertThat(join(this.entries.write(next, "800000", 0))).isFalse();
		assertThat(lease(this.key)).isEqualTo(taken.id());
	}

	/** Somebody has seen the first lock, and ends it when its lease has another key. */
	@Test
	void removalByAnotherEndsNoLeaseThatAnotherLockHas() {
		OwnerToken first = acquire(this.key);
		Entry seen = join(this.entries.list(this.key)).get(0);
		release(this.key, first);
		OwnerToken second = acquire("other-" + this.key);
		assertThat(join(this.entries.remove(seen))).isFalse();
		release("other-" + this.key, second);
	}

	private Entry.Own add() {
		OwnerToken token = new OwnerToken(INSTANCE, ++this.sequence, 5000);
		return join(this.entries.add(this.key, token, false, 600_000, "600000")).entry();
	}

	private static <T> T join(CompletionStage<T> stage) {
		return ((CompletableFuture<T>) stage.toCompletableFuture()).join();
	}

}
