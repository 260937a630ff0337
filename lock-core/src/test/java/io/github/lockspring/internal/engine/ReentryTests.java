package io.github.lockspring.internal.engine;

import java.time.Duration;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.internal.KeyedLock;
import io.github.lockspring.internal.Requests;
import io.github.lockspring.internal.base.CallChain;
import io.github.lockspring.internal.UnitOfWork;
import io.github.lockspring.internal.engine.support.LockEvents;
import io.github.lockspring.internal.engine.support.LockRecorder;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * A call chain that holds a lock enters it again; nobody else does.
 */
class ReentryTests extends EngineFixture {

	@BeforeEach
	void everyLockIsFree() {
		this.store.free();
	}

	@Test
	void f18SecondEntryOfTheSameCallChainCostsNoCommand() {
		this.template.executeWithoutResult(request(), (outer) -> {
			this.template.executeWithoutResult(request(),
					(inner) -> assertThat(inner.fencingToken()).isEqualTo(outer.fencingToken()));
			assertThat(outer.isHeld()).isTrue();
			assertThat(this.store.released).isEmpty();
		});
		assertThat(this.store.looks).hasSize(1);
		assertThat(this.store.released).hasSize(1);
		assertThat(this.store.renewed).isEmpty();
		assertThat(this.events).hasSize(2);
		assertNothingLeft();
	}

	@Test
	@Tag("h25")
	void f18SecondEntryIsRefusedWhenTheLeaseIsOver() {
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.template.execute(request(), (outer) -> {
				advance(TTL);
				return this.template.execute(request(), (inner) -> {
					throw new AssertionError("ran without the lock");
				});
			}));
		assertNothingLeft();
	}

	@Test
	void entryAfterTheWorkHasClosedItsLockSaysThatItWasClosed() {
		assertThatIllegalStateException().isThrownBy(() -> this.template.execute(request(), (outer) -> {
			outer.close();
			return this.template.execute(request(), (inner) -> "ran without the lock");
		})).withMessageContaining("closed");
	}

	@Test
	@Tag("nested-calls")
	void optionsOfTheOutermostCallCount() {
		LockRequest fixed = LockRequest.of(KEY).ttl(TTL).renew(false);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.template.executeWithoutResult(fixed,
				(outer) -> this.template.executeWithoutResult(request(), (inner) -> {
					pass(TTL.minusSeconds(1));
					inner.ensureHeld();
					pass(Duration.ofSeconds(1));
					assertThat(inner.isHeld()).isFalse();
				})));
		assertThat(this.store.renewed).isEmpty();
		assertNothingLeft();
	}

	// defect 25
	@Test
	@Tag("nested-calls")
	void minHoldOfTheInnerCallHasNoEffect() {
		this.template.executeWithoutResult(request(),
				(outer) -> this.template.executeWithoutResult(request().minHold(Duration.ofMinutes(1)), (inner) -> {
				}));
		assertThat(this.store.released).singleElement()
			.satisfies((release) -> assertThat(release.keep()).isEqualTo(Duration.ZERO));
	}

	@Test
	void otherTemplateDoesNotReenter() {
		KeyLockRegistry other = new KeyLockRegistry(this.store, settings(), LockEvents.NOBODY, LockRecorder.NONE, null,
				this.time, EngineFixture.NO_THREADS);
		LockTemplate second = new LockEngine(this.store, (threads) -> other, UnitOfWork.NONE).template();
		this.template.executeWithoutResult(request(), (outer) -> {
			second.executeWithoutResult(request(), (inner) -> {
				assertThat(inner.fencingToken()).isNotEqualTo(outer.fencingToken());
				// and does not hide the first one's lock from the first one
				this.template.executeWithoutResult(request().waitTime(Duration.ZERO),
						(innermost) -> assertThat(innermost.fencingToken()).isEqualTo(outer.fencingToken()));
			});
			assertThat(this.store.looks).hasSize(2);
		});
	}

	@Test
	void callChainKnowsItsLocksInnermostFirst() {
		assertThat(CallChain.currentLocks(KeyedLock.class)).isEmpty();
		this.template.executeWithoutResult(LockRequest.of("a"), (a) -> {
			this.template.executeWithoutResult(LockRequest.of("b"), (b) -> {
				assertThat(CallChain.currentLocks(HeldLock.class)).containsExactly(b, a);
				assertThat(HeldLock.current("a")).containsSame(a);
				assertThat(HeldLock.current()).containsSame(b);
			});
			assertThat(CallChain.currentLocks(HeldLock.class)).containsExactly(a);
			assertThat(HeldLock.current()).containsSame(a);
		});
		assertThat(CallChain.currentLocks(KeyedLock.class)).isEmpty();
	}

	@Test
	void partOfSeveralKeysIsEnteredAgainAndOnlyTheRestIsTaken() {
		this.template.executeWithoutResult(Requests.ofKeys("a", "b"), (outer) -> {
			this.template.executeWithoutResult(Requests.ofKeys("b", "c"), (inner) -> {
				assertThat(HeldLock.current()).hasValue(inner);
				assertThat(((KeyedLock) inner).locks()).extracting(KeyedLock::key).containsExactly("b", "c");
				assertThat(((KeyedLock) inner).locks().get(0)).isSameAs(((KeyedLock) outer).locks().get(1));
				assertThat(CallChain.currentLocks(KeyedLock.class)).extracting(KeyedLock::key)
					.containsExactly("b", "c", "a");
				this.template.executeWithoutResult(Requests.ofKeys("a", "b", "c"), (innermost) -> {
				});
			});
			assertThat(this.store.released).extracting("key").containsExactly("c");
			assertThat(outer.isHeld()).isTrue();
		});
		assertThat(this.store.looks).extracting("key").containsExactly("a", "b", "c");
		assertThat(this.store.released).extracting("key").containsExactly("c", "b", "a");
		assertNothingLeft();
	}

	@Test
	void lossIsReportedToTheInnerAndTheOuterCall() {
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.template.execute(request(), (outer) -> this.template.execute(request(), (inner) -> {
				pass(TTL);
				return "done";
			})))
			.satisfies((ex) -> assertThat(ex.getSuppressed()).hasSize(1));
		assertThat(events(LockEvent.Lost.class)).hasSize(1);
	}

	@Test
	void scopeThatTheWorkLeftOpenIsReportedAndNotInherited() {
		HeldLock handle = this.template.acquire(LockRequest.of("b"));
		assertThatIllegalStateException().isThrownBy(() -> this.template.executeWithoutResult(request(),
				(lock) -> CallChain.open(handle, ((KeyedLock) handle).locks())));
		assertThat(CallChain.currentLocks(KeyedLock.class)).isEmpty();
		this.template.executeWithoutResult(request(), (lock) -> assertThat(lock.isHeld()).isTrue());
	}

	@Test
	void handleIsNotEnteredAgain() {
		HeldLock handle = this.template.acquire(request());
		assertThat(CallChain.currentLocks(KeyedLock.class)).isEmpty();
		assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> this.template.execute(request().waitTime(Duration.ZERO), (lock) -> "entered"));
		handle.close();
	}

	@Test
	void handleThatIsTakenIntoACallChainIsEnteredAgainAlsoOnAnotherThread() {
		HeldLock handle = this.template.acquire(request());
		Running<Long> other = start(() -> {
			try (CallChain.Scope scope = CallChain.open(handle, ((KeyedLock) handle).locks())) {
				assertThat(scope).isNotNull();
				return this.template.<Long, RuntimeException>execute(request(), HeldLock::fencingToken);
			}
		});
		assertThat(other.get()).isEqualTo(handle.fencingToken());
		assertThat(handle.isHeld()).isTrue();
		handle.close();
		assertThat(this.store.looks).hasSize(1);
	}

}
