package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.github.lockspring.internal.engine.support.Recording;
import io.github.lockspring.internal.engine.support.StoreClient;
import io.github.lockspring.internal.engine.support.Time;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.memory.MemoryLockStore;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A request about a lease waits no longer for its result than the command timeout, and no
 * longer than a third of the lease.
 */
class CommandTimeoutTests {

	private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(1);

	private static final Duration LONG = Duration.ofSeconds(30);

	private static final Duration SHORT = Duration.ofMillis(1500);

	private static final OwnerToken TOKEN = new OwnerToken("i".repeat(22), 1, 1);

	private final List<Duration> timeouts = new ArrayList<>();

	private final StoreClient client = new StoreClient(new ScriptedStore(new MemoryLockStore()) {
		@Override
		void beforeAnswer(Duration timeout) {
			CommandTimeoutTests.this.timeouts.add(timeout);
		}
	}, COMMAND_TIMEOUT, Runnable::run, Recording.OFF, Time.SYSTEM);

	@Test
	void acquisitionOfAShortLeaseWaitsForAThirdOfIt() {
		acquire(SHORT);
		acquire(LONG);
		acquire(Duration.ofSeconds(3));
		assertThat(this.timeouts).containsExactly(Duration.ofMillis(500), COMMAND_TIMEOUT, COMMAND_TIMEOUT);
	}

	@Test
	void renewalOfAShortLeaseWaitsForAThirdOfIt() {
		this.client.renew(new RenewRequest("a", TOKEN, SHORT));
		this.client.renew(new RenewRequest("a", TOKEN, LONG));
		assertThat(this.timeouts).containsExactly(Duration.ofMillis(500), COMMAND_TIMEOUT);
	}

	@Test
	void renewalOfSeveralLeasesWaitsForAThirdOfTheShortest() {
		RenewRequest lasting = new RenewRequest("a", TOKEN, LONG);
		RenewRequest brief = new RenewRequest("b", TOKEN, SHORT);
		this.client.renewAll(List.of(lasting, brief));
		this.client.renewAll(List.of(brief, lasting));
		this.client.renewAll(List.of(lasting, lasting));
		assertThat(this.timeouts).containsExactly(Duration.ofMillis(500), Duration.ofMillis(500), COMMAND_TIMEOUT);
	}

	@Test
	void timeoutIsThatOfTheCommandWhereTheLeaseIsUnknown() {
		assertThat(this.client.timeout(Duration.ZERO)).isEqualTo(COMMAND_TIMEOUT);
		assertThat(this.client.timeout(SHORT)).isEqualTo(Duration.ofMillis(500));
	}

	private void acquire(Duration ttl) {
		this.client.acquire(new AcquireRequest("a", TOKEN, ttl, AcquireRequest.QueueMode.NONE));
	}

}
