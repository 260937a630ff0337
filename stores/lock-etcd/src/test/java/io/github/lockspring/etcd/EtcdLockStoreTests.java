package io.github.lockspring.etcd;

import java.time.Duration;
import java.util.UUID;

import io.etcd.jetcd.Client;
import io.etcd.jetcd.options.DeleteOption;
import io.github.lockspring.HeldLock;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.testsupport.etcd.EtcdProcess;
import io.github.lockspring.testsupport.etcd.RequiresEtcd;
import io.github.lockspring.testsupport.store.Instance;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Locks whose requests have no answer, or whose keys are taken away.
 */
@RequiresEtcd
class EtcdLockStoreTests {

	private static final Duration PATIENT = Duration.ofSeconds(30);

	private final Faults faults = new Faults();

	private final Instance one = Instance
		.over(EtcdLockStore
			.builder(() -> Clients.builder(EtcdProcess.shared().address()).interceptor(this.faults).build())
			.build())
		.start();

	private final Instance other = Instance.over(Clients.store()).start();

	private final String key = "store-" + UUID.randomUUID();

	@AfterEach
	void close() {
		this.faults.release();
		this.one.close();
		this.other.close();
	}

	private HeldLock acquire(LockTemplate locks) {
		return locks.acquire(LockRequest.of(this.key).ttl(Duration.ofSeconds(10)).waitTime(PATIENT));
	}

	/** Number 5: although nobody holds it then. */
	@Test
	void holderWhoseEntryWasTakenAwayLearnsOfItWhenItReleases() throws Exception {
		HeldLock held = acquire(this.one.locks());
		try (Client client = Clients.of(EtcdProcess.shared().address())) {
			client.getKVClient()
				.delete(Clients.bytes("lock:" + this.key + "/"), DeleteOption.builder().isPrefix(true).build())
				.get();
		}
		assertThatExceptionOfType(LockLostException.class).isThrownBy(held::close);
	}

	/**
	 * Number 3: a late move does not bring an entry back to a lease that nobody renews.
	 */
	@Test
	void lateMoveOfAnEntryHarmsNobody() {
		HeldLock held = this.one.locks()
			.acquire(LockRequest.of(this.key).ttl(Duration.ofSeconds(30)).waitTime(PATIENT));
		this.faults.holdRequest(Faults.RAISE);
		await().atMost(PATIENT).until(() -> this.faults.held() == 1);
		await().atMost(PATIENT).until(() -> this.faults.sent(Faults.RAISE) > 1);
		this.faults.release();
		await().during(Duration.ofSeconds(12)).atMost(PATIENT).until(held::isHeld);
		assertThat(EtcdProcess.shared().entries(this.key)).isOne();
		held.close();
		acquire(this.other.locks()).close();
	}

}
