package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockEvent.Lost.Cause;
import io.github.lockspring.LockRequest;
import io.github.lockspring.internal.KeyedLock;
import io.github.lockspring.internal.Requests;
import io.github.lockspring.internal.UnitOfWork;
import io.github.lockspring.internal.engine.LockEngine.LocalHold;
import io.github.lockspring.internal.engine.LockEngine.LocalLock;
import io.github.lockspring.internal.engine.support.LockEvents;
import io.github.lockspring.internal.engine.support.LockRecorder;
import io.github.lockspring.store.InstanceInfo;
import io.github.lockspring.store.memory.MemoryLockStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What an engine shows to people: its locks, its store, who holds a lock elsewhere, and a
 * lock that is taken away.
 */
class EngineInspectionTests {

	private static final Duration TTL = Duration.ofSeconds(30);

	private static final LockRequest REQUEST = Requests.labelled(LockRequest.of("a"), "orders")
		.ttl(TTL)
		.waitTime(Duration.ofMinutes(1));

	private final MemoryLockStore store = new MemoryLockStore();

	private final List<LockEvent> events = new CopyOnWriteArrayList<>();

	private final LockEngine engine = engine("billing");

	private final LockEngine other = engine("shipping");

	private LockEngine engine(String application) {
		return new LockEngine(this.store, EngineSettings.defaults(), this.events::add, UnitOfWork.NONE,
				LockRecorder.NONE, () -> new InstanceInfo(application, "host", 41));
	}

	@AfterEach
	void close() {
		this.engine.close();
		this.other.close();
		this.store.close();
	}

	private LocalHold held() {
		LocalHold hold = this.engine.lock("a").orElseThrow().hold();
		assertThat(hold).isNotNull();
		return hold;
	}

	@Test
	void nothingIsAskedBeforeTheFirstLock() {
		assertThat(this.engine.isUsed()).isFalse();
		assertThat(this.engine.locks()).isEmpty();
		assertThat(this.engine.lock("a")).isEmpty();
		assertThat(this.engine.inspector()).isEmpty();
		assertThat(this.engine.health()).isEmpty();
		assertThat(this.engine).hasToString("LockEngine[not used yet]");
	}

	@Test
	void heldLockIsDescribed() {
		HeldLock lock = this.engine.template().acquire(REQUEST);
		assertThat(this.engine.isUsed()).isTrue();
		assertThat(this.engine.locks()).extracting(LocalLock::key).containsExactly("a");
		assertThat(this.engine.lock("b")).isEmpty();
		LocalHold hold = held();
		assertThat(hold.name()).isEqualTo("orders");
		assertThat(hold.fencingToken()).isEqualTo(lock.fencingToken());
		assertThat(hold.heldFor()).isLessThan(Duration.ofSeconds(20));
		assertThat(hold.remaining()).isBetween(Duration.ofSeconds(5), TTL);
		assertThat(hold.renewals()).isZero();
		assertThat(hold.thread()).isSameAs(Thread.currentThread());
		assertThat(hold.unitOfWork()).isFalse();
		((KeyedLock) lock).verify();
		assertThat(held().renewals()).isEqualTo(1);
		lock.close();
		assertThat(this.engine.locks()).isEmpty();
		assertThat(this.engine.toString()).matches("LockEngine\\[[A-Za-z0-9_-]{22}\\]");
	}

	@Test
	void waitersAreCountedAndAnInboxIsKnownOnceSomebodyWaits() throws Exception {
		HeldLock elsewhere = this.other.template().acquire(REQUEST);
		this.engine.template().acquire(LockRequest.of("b").ttl(TTL).renew(false)).close();
		assertThat(this.engine.health()).hasValueSatisfying((health) -> {
			assertThat(health.store().isUsable()).isTrue();
			assertThat(health.inbox()).isNull();
		});
		CompletableFuture<HeldLock> waiting = CompletableFuture
			.supplyAsync(() -> this.engine.template().acquire(REQUEST), (task) -> new Thread(task).start());
		await().until(() -> this.engine.lock("a").filter((lock) -> lock.waiting() == 1).isPresent());
		assertThat(this.engine.lock("a").orElseThrow().hold()).isNull();
		await().untilAsserted(() -> assertThat(this.engine.health().orElseThrow().inbox()).isTrue());
		elsewhere.close();
		waiting.get().close();
	}

	@Test
	void lockOfAUnitOfWorkIsDescribedAsSuch() {
		List<Runnable> ends = new ArrayList<>();
		UnitOfWork unit = new UnitOfWork() {
			@Override
			public boolean isActive() {
				return true;
			}

			@Override
			public void afterCompletion(Runnable action) {
				ends.add(action);
			}
		};
		try (LockEngine bound = new LockEngine(this.store, EngineSettings.defaults(), LockEvents.NOBODY, unit,
				LockRecorder.NONE, null)) {
			bound.template().execute(REQUEST, (lock) -> "done");
			assertThat(bound.lock("a").orElseThrow().hold()).extracting(LocalHold::unitOfWork).isEqualTo(true);
			ends.forEach(Runnable::run);
			assertThat(bound.locks()).isEmpty();
		}
	}

	@Test
	void ownLockIsTakenAwayAndItsHolderLearnsAtOnce() {
		HeldLock lock = this.engine.template().acquire(REQUEST);
		assertThat(this.engine.forceRelease("a")).isTrue();
		assertThat(lock.isHeld()).isFalse();
		this.other.template().acquire(REQUEST).close();
		await().untilAsserted(() -> assertThat(this.events).filteredOn(LockEvent.Lost.class::isInstance)
			.extracting((event) -> ((LockEvent.Lost) event).cause())
			.containsExactly(Cause.FORCED));
		assertThat(this.engine.forceRelease("a")).isFalse();
	}

	@Test
	void lockOfAnotherInstanceIsTakenAwayInTheStore() {
		HeldLock lock = this.other.template().acquire(REQUEST);
		this.engine.template().acquire(LockRequest.of("b").ttl(TTL).renew(false)).close();
		assertThat(this.engine.forceRelease("a")).isTrue();
		this.engine.template().acquire(REQUEST).close();
		assertThat(lock.isHeld()).isTrue();
		assertThat(this.engine.forceRelease("a")).isFalse();
		this.other.forceRelease("a");
	}

}
