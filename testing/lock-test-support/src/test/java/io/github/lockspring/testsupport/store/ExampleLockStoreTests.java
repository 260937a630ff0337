package io.github.lockspring.testsupport.store;

import java.time.Duration;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.store.LockStore;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The contract of stores, for the example of {@code docs/contribute/write-a-store.md}.
 */
class ExampleLockStoreTests extends AbstractLockStoreTests {

	private final ExampleLockStore.Server server = new ExampleLockStore.Server();

	@Override
	protected LockStore createStore() {
		return new ExampleLockStore(this.server);
	}

	@Override
	protected void loseEverything() {
		this.server.loseEverything();
	}

	@Override
	protected int leftovers() {
		return this.server.size();
	}

	@Test
	void instancesThatShareAServerExcludeEachOther() {
		LockRequest request = LockRequest.of(this.key);
		try (Instance one = Instance.over(createStore()).start();
				Instance other = Instance.over(createStore()).start()) {
			HeldLock held = one.locks().acquire(request);
			assertThat(other.locks().tryAcquire(request.waitTime(Duration.ZERO))).isEmpty();
			long fencingToken = held.fencingToken();
			held.close();
			try (HeldLock next = other.locks().acquire(request)) {
				assertThat(next.fencingToken()).isGreaterThan(fencingToken);
			}
		}
		assertThat(leftovers()).isZero();
	}

}
