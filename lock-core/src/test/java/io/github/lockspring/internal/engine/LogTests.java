package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.github.lockspring.HeldLock;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockRequest;
import io.github.lockspring.internal.Requests;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewResult;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import org.slf4j.event.KeyValuePair;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the engine writes to the log.
 */
class LogTests extends EngineFixture {

	private static final Logger LOGGER = (Logger) LoggerFactory.getLogger(LockEngine.class.getPackageName());

	private final ListAppender<ILoggingEvent> log = new ListAppender<>() {

		@Override
		protected void append(ILoggingEvent line) {
			super.append(line);
			LogTests.this.onLine.run();
		}

	};

	private Runnable onLine = () -> {
	};

	@BeforeEach
	void listen() {
		this.log.start();
		LOGGER.setLevel(Level.INFO);
		LOGGER.addAppender(this.log);
	}

	@AfterEach
	void stopListening() {
		LOGGER.detachAppender(this.log);
		LOGGER.setLevel(null);
	}

	private List<String> lines() {
		return this.log.list.stream().map((line) -> line.getLevel() + " " + line.getFormattedMessage()).toList();
	}

	private List<String> fields() {
		List<KeyValuePair> fields = this.log.list.get(0).getKeyValuePairs();
		return fields.stream().map((field) -> field.key + "=" + field.value).toList();
	}

	private List<HeldLock> heldLocks(int number) {
		this.store.free();
		return IntStream.range(0, number).mapToObj((i) -> this.template.acquire(LockRequest.of("order", i))).toList();
	}

	private void failEverything() {
		this.store.failRenewals();
		this.store.failReleases();
	}

	@Test
	void lossHasKeyNameAndTokenAsFields() {
		held(Requests.labelled(request(), "order"), 7);
		this.store.onRenew = (request) -> RenewResult.NOT_OWNER;
		pass(Duration.ofSeconds(11));
		assertThat(lines()).singleElement().asString().startsWith("WARN Lock 'order:42' (order) was lost after 11s");
		assertThat(fields()).containsExactlyInAnyOrder("lock.key=order:42", "lock.name=order", "lock.token=7");
	}

	@Test
	void releaseThatFailsHasTheFieldsToo() {
		HeldLock lock = held(request(), 7);
		failEverything();
		lock.close();
		assertThat(lines()).singleElement().asString().startsWith("WARN Lock 'order:42' could not be released");
		assertThat(fields()).containsExactlyInAnyOrder("lock.key=order:42", "lock.token=7");
	}

	@Test
	void lockIsFreeForTheNextLocalCallerBeforeItsReleaseIsLogged() {
		List<Boolean> known = new ArrayList<>();
		this.onLine = () -> known.add(this.registry.present(KEY) != null);
		HeldLock lock = held(request(), 7);
		this.store.onRelease = (request) -> new ReleaseResult.NotOwner(7);
		lock.close();
		lock = held(request(), 8);
		failEverything();
		lock.close();
		assertThat(lines()).hasSize(2);
		assertThat(known).containsExactly(false, false);
	}

	@Test
	void outageIsOneLineHoweverManyLocksAreHeldAndReleased() {
		List<HeldLock> locks = heldLocks(300);
		failEverything();
		pass(Duration.ofSeconds(11));
		for (int i = 0; i < 4; i++) {
			pass(Duration.ofSeconds(4));
		}
		locks.subList(0, 100).forEach(HeldLock::close);
		assertThat(lines()).singleElement().asString().startsWith("WARN 100 lock(s), 'order:");
	}

	private void enterAgain(LockRequest inner) {
		this.template.executeWithoutResult(request(), (outer) -> this.template.executeWithoutResult(inner, (lock) -> {
		}));
	}

	// defect 44
	@Test
	@Tag("nested-calls")
	void callThatEntersItsLockAgainWithAnotherLeaseIsWarnedOfOnceForEachLabel() {
		this.store.free();
		LockRequest longer = Requests.labelled(request().ttl(TTL.multipliedBy(2)), "ship");
		enterAgain(longer);
		enterAgain(longer);
		assertThat(lines()).containsExactly("WARN Lock 'order:42' (ship) is entered again with ttl = 60s, renew = true,"
				+ " which has no effect: the call that acquired it has ttl = 30s, renew = true."
				+ " Give both the same ttl and renew. Further calls of this kind are not reported");
		enterAgain(Requests.labelled(LockRequest.of(KEY).renew(false), "fixed"));
		assertThat(lines()).hasSize(2);
	}

	// defect 44
	@Test
	void callThatEntersItsLockAgainWithoutALeaseOfItsOwnIsNotWarnedOf() {
		this.store.free();
		LockRequest plain = LockRequest.of(KEY);
		this.template.executeWithoutResult(plain.ttl(TTL.multipliedBy(2)),
				(outer) -> this.template.executeWithoutResult(plain, (inner) -> {
				}));
		assertThat(lines()).isEmpty();
	}

	// defect 44
	@Test
	void callsWithoutALabelAreWarnedOfByTheirKeyButNotWithoutEnd() {
		this.store.free();
		for (int i = 0; i < 200; i++) {
			LockRequest outer = LockRequest.of("order-" + i);
			this.template.executeWithoutResult(outer,
					(lock) -> this.template.executeWithoutResult(outer.renew(false), (inner) -> {
					}));
		}
		assertThat(lines()).hasSize(100);
	}

	@Test
	void lossIsLoggedAndReportedByAThreadThatMayBlock() {
		List<Runnable> later = new ArrayList<>();
		held(request(), 7);
		this.eventThread = later::add;
		this.store.onRenew = (request) -> RenewResult.NOT_OWNER;
		pass(Duration.ofSeconds(11));
		assertThat(lines()).isEmpty();
		assertThat(events(LockEvent.Lost.class)).isEmpty();
		later.forEach(Runnable::run);
		assertThat(lines()).hasSize(1);
		assertThat(events(LockEvent.Lost.class)).hasSize(1);
	}

}
