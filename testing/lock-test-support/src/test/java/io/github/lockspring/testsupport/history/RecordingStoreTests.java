package io.github.lockspring.testsupport.history;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.memory.MemoryLockStore;
import io.github.lockspring.testsupport.history.RecordedEvents.Acquisition;
import io.github.lockspring.testsupport.store.JoinedStore;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is recorded when a store grants a lock.
 */
class RecordingStoreTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(10);

	private static final OwnerToken HOLDER = new OwnerToken("h".repeat(22), 1, 5000);

	private static final OwnerToken WAITER = new OwnerToken("w".repeat(22), 2, 5000);

	@TempDir
	private Path directory;

	/**
	 * Otherwise an acquisition that the store knew of before a lease ended early would
	 * count as one of the time after.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void acquisitionIsAsOldAsTheFirstAttemptIfTheStoreRemembersIt(boolean remembers) throws IOException {
		Path file = this.directory.resolve("events");
		long busy;
		try (EventLog events = new EventLog(file);
				LockStore store = new RecordingStore(new MemoryLockStore(), events, remembers)) {
			JoinedStore joined = new JoinedStore(store);
			acquire(joined, HOLDER);
			acquire(joined, WAITER);
			busy = System.nanoTime();
			joined.release(new ReleaseRequest("key", HOLDER), TIMEOUT);
			acquire(joined, WAITER);
		}
		Acquisition last = RecordedEvents.read(Map.of("worker", file)).acquisitions().get(1);
		assertThat(last.asked() < busy).isEqualTo(remembers);
	}

	private static void acquire(JoinedStore store, OwnerToken token) {
		store.acquire(new AcquireRequest("key", token, Duration.ofMinutes(1), true), TIMEOUT);
	}

}
