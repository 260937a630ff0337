package io.github.lockspring.internal.engine.support;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.engine.FakeTime;
import io.github.lockspring.internal.engine.ScriptedStore;
import io.github.lockspring.internal.engine.support.Instances.Owner;
import io.github.lockspring.store.InstanceInfo;
import io.github.lockspring.store.LockStoreInspector;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.StoredLock;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What an instance tells the store of itself, and asks it about others.
 */
class InstancesTests {

	private static final Duration TTL = Duration.ofSeconds(30);

	private static final OwnerToken TOKEN = new OwnerToken("AAAAAAAAAAAAAAAAAAAAAA", 1, 1000);

	private static final InstanceInfo INFO = new InstanceInfo("billing", "host", 41);

	private final FakeTime time = new FakeTime();

	private final List<String> calls = new ArrayList<>();

	private @Nullable RuntimeException failure;

	private @Nullable StoredLock stored = new StoredLock("a", TOKEN.toString(), TTL, Duration.ofSeconds(7), 1, 0,
			List.of());

	private Map<String, InstanceInfo> known = Map.of(TOKEN.instance(), INFO);

	private boolean inspectable = true;

	private final ScriptedStore store = new ScriptedStore() {

		@Override
		public Optional<LockStoreInspector> inspector() {
			return InstancesTests.this.inspectable ? Optional.of(new Inspector()) : Optional.empty();
		}

	};

	private boolean outOfThreads;

	private final List<Runnable> tasks = new ArrayList<>();

	private final Instances instances = instances(() -> INFO);

	private Instances instances(@Nullable Supplier<InstanceInfo> description) {
		return new Instances("instance", description, this.store, Duration.ofSeconds(1), this.time, (task) -> {
			if (this.outOfThreads) {
				throw new OutOfMemoryError("no thread");
			}
			this.tasks.add(task);
		});
	}

	private void check(String call) {
		this.calls.add(call);
		if (this.failure != null) {
			throw this.failure;
		}
	}

	@Test
	void ownerIsKnownByItsInstance() {
		assertThat(this.instances.owner("a")).contains(new Owner(INFO, Duration.ofSeconds(7)));
		assertThat(this.calls).containsExactly("find a PT0.2S", "instances [" + TOKEN.instance() + "] PT0.2S");
	}

	@Test
	void ownerIsUnknownWhereTheStoreHasNoInspectorNoLockOrNoSuchInstance() {
		this.known = Map.of();
		assertThat(this.instances.owner("a")).isEmpty();
		this.stored = new StoredLock("a", "someone else", TTL, null, 1, 0, List.of());
		assertThat(this.instances.owner("a")).isEmpty();
		this.stored = null;
		assertThat(this.instances.owner("a")).isEmpty();
		assertThat(this.calls).hasSize(4);
		this.inspectable = false;
		assertThat(this.instances.owner("a")).isEmpty();
	}

	@Test
	void lookingForAnOwnerNeverFailsAndIsNotWorthAnInterrupt() {
		this.failure = new IllegalStateException("broken");
		assertThat(this.instances.owner("a")).isEmpty();
		this.failure = null;
		Thread.currentThread().interrupt();
		assertThat(this.instances.owner("a")).isEmpty();
		assertThat(Thread.interrupted()).isTrue();
		assertThat(this.calls).hasSize(1);
	}

	@Test
	void registrationIsRepeatedEveryNowAndThenInTheBackground() {
		instances(null).register();
		assertThat(this.tasks).isEmpty();
		this.instances.register();
		this.instances.register();
		assertThat(this.tasks).hasSize(1);
		this.tasks.get(0).run();
		assertThat(this.calls).singleElement().isEqualTo("register instance billing on host, pid 41 PT1M PT1S");
		Duration interval = Duration.ofSeconds(20);
		this.time.advance(interval.minusNanos(1));
		this.instances.register();
		assertThat(this.tasks).hasSize(1);
		this.time.advance(Duration.ofNanos(1));
		this.instances.register();
		assertThat(this.tasks).hasSize(2);
		this.failure = new LockUnavailableException("no answer");
		this.tasks.get(1).run();
		assertThat(this.calls).hasSize(2);
		this.inspectable = false;
		this.tasks.get(1).run();
		assertThat(this.calls).hasSize(2);
	}

	@Test
	void registrationWithoutAThreadIsLeftForLater() {
		this.outOfThreads = true;
		this.instances.register();
		assertThat(this.calls).isEmpty();
	}

	private final class Inspector implements LockStoreInspector {

		@Override
		public Optional<StoredLock> find(String key, Duration timeout) {
			check("find " + key + " " + timeout);
			return Optional.ofNullable(InstancesTests.this.stored);
		}

		@Override
		public boolean forceRelease(StoredLock seen, Duration timeout) {
			return false;
		}

		@Override
		public void register(String instance, InstanceInfo info, Duration ttl, Duration timeout) {
			check("register " + instance + " " + info + " " + ttl + " " + timeout);
		}

		@Override
		public Map<String, InstanceInfo> instances(Collection<String> instances, Duration timeout) {
			check("instances " + instances + " " + timeout);
			return InstancesTests.this.known;
		}

	}

}
