package io.github.lockspring.internal.engine;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import io.github.lockspring.LockEvent.Lost.Cause;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.OnLost;
import io.github.lockspring.internal.engine.KeyState.Asking;
import io.github.lockspring.internal.engine.support.LockEvents;
import io.github.lockspring.internal.engine.support.LockRecorder;
import io.github.lockspring.internal.engine.support.StoreClient;
import io.github.lockspring.internal.engine.support.Time;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.OwnerToken;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The table of states and events in the documentation of the package is what the code
 * does: each cell is a case.
 */
class KeyStateTests {

	private static final long MILLIS = 1_000_000;

	private static final long TTL = 3000 * MILLIS;

	private static final Map<String, Consumer<Key>> STATES = new LinkedHashMap<>();

	private static final Map<String, Consumer<Key>> EVENTS = new LinkedHashMap<>();

	static {
		STATES.put("Asking", (key) -> {
		});
		STATES.put("Waiting", (key) -> key.answer(new AcquireResult.Busy(2000, 10)));
		STATES.put("Retrying", (key) -> key.fail(false));
		STATES.put("Held", (key) -> key.answer(new AcquireResult.Acquired(11)));
		STATES.put("Releasing", (key) -> {
			key.answer(new AcquireResult.Acquired(11));
			key.end();
		});

		EVENTS.put("enqueue", (key) -> key.enqueue(false));
		EVENTS.put("enqueue, once", (key) -> key.enqueue(true));
		EVENTS.put("last waiter leaves", (key) -> key.leave(key.waiter(0)));
		EVENTS.put("another one leaves", (key) -> key.leave(key.waiter(1)));
		EVENTS.put("acquired", (key) -> key.answer(new AcquireResult.Acquired(12)));
		EVENTS.put("acquired too late", (key) -> {
			key.now += TTL;
			key.answer(new AcquireResult.Acquired(12));
		});
		EVENTS.put("busy", (key) -> key.answer(new AcquireResult.Busy(2000, 12)));
		EVENTS.put("failed", (key) -> key.fail(false));
		EVENTS.put("failed for good", (key) -> key.fail(true));
		EVENTS.put("granted", (key) -> key.lock.granted(key.token(), 12, false, key.now));
		EVENTS.put("granted, stale", (key) -> key.lock.granted(key.token(), 10, false, key.now));
		EVENTS.put("wanted", (key) -> key.lock.wanted(key.token(), key.now));
		EVENTS.put("subscribed", (key) -> key.lock.subscribed(key.now + 10 * MILLIS, key.now));
		EVENTS.put("reconnected", (key) -> key.lock.reconnected(key.now + 10 * MILLIS, key.now));
		EVENTS.put("time passes", (key) -> key.tick(2 * TTL));
		EVENTS.put("renewal is due", (key) -> key.tick(TTL / 2));
		EVENTS.put("renewed", (key) -> key.renewed(RenewResult.RENEWED));
		EVENTS.put("not the owner", (key) -> key.renewed(RenewResult.NOT_OWNER));
		EVENTS.put("end", Key::end);
		EVENTS.put("end, handed off", (key) -> {
			if (key.held() != null) {
				key.waiter(1);
				key.end();
			}
		});
		EVENTS.put("released", (key) -> key.lock.released(key.token(), key.now));
		EVENTS.put("closing", (key) -> {
			key.closing = true;
			key.lock.closing(key.now);
		});
		EVENTS.put("stop", (key) -> key.lock.stop(key.now));
	}

	@Test
	void tableHasTheStatesAndEventsOfTheCode() {
		List<List<String>> table = table();
		List<String> states = table.get(0).subList(1, table.get(0).size());
		assertThat(states).containsExactlyElementsOf(STATES.keySet())
			.containsExactlyInAnyOrderElementsOf(states(KeyState.class).map(Class::getSimpleName).toList());
		assertThat(table.subList(1, table.size()).stream().map((row) -> row.get(0)))
			.containsExactlyElementsOf(EVENTS.keySet());
	}

	/** Those that are not abstract. */
	private static Stream<Class<?>> states(Class<?> type) {
		return type.isSealed() ? Arrays.stream(type.getPermittedSubclasses()).flatMap(KeyStateTests::states)
				: Stream.of(type);
	}

	@ParameterizedTest(name = "{0}, {1}: {2}")
	@MethodSource("cells")
	void cellOfTheTable(String event, String state, String expected) {
		Key key = new Key();
		STATES.get(state).accept(key);
		assertThat(key.stateName()).isEqualTo(state);
		assertThat(key.happens(EVENTS.get(event))).isEqualTo(expected);
	}

	static Stream<Arguments> cells() {
		List<List<String>> table = table();
		return table.stream()
			.skip(1)
			.flatMap((row) -> IntStream.range(1, row.size())
				.mapToObj((column) -> Arguments.of(row.get(0), table.get(0).get(column), row.get(column))));
	}

	/** It names the server, which the silence does not. */
	@Test
	void reasonThatTheStoreHasGivenIsNotReplacedByItsSilence() {
		Key key = new Key();
		key.fail(false);
		key.tick(2 * TTL);
		assertThat(key.stateName()).isEqualTo("Asking");
		key.tick(2 * TTL);
		assertThat(key.stateName()).isEqualTo("Retrying");
		assertThat(key.state().whyNot(key.waiter(0), key.now)).isInstanceOfSatisfying(AcquireFailure.Unavailable.class,
				(failure) -> assertThat(failure.cause()).hasMessageContaining("no result"));
	}

	/** The first row has the states, the others an event and a cell for each state. */
	private static List<List<String>> table() {
		try {
			Path file = Path.of("src/main/java/io/github/lockspring/internal/engine/package-info.java");
			String text = Files.readString(file);
			return text.substring(text.indexOf("<pre>") + 5, text.indexOf("</pre>"))
				.lines()
				.filter((line) -> line.contains("  "))
				.map((line) -> List.of(line.substring(3).split(" {2,}")))
				.toList();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * A lock with one waiter, whose attempt is under way.
	 */
	private static final class Key implements KeyLockPort {

		private static final OwnerToken TOKEN = new OwnerToken("A", 1, 3000);

		private final List<String> effects = new ArrayList<>();

		/** The answer of the release that is on its way. */
		private @Nullable CompletableFuture<ReleaseResult> released;

		private final Releases releases = new Releases(new StoreClient(new ScriptedStore() {
			@Override
			public CompletionStage<ReleaseResult> release(ReleaseRequest request, Duration timeout) {
				Key.this.effects.add("release");
				Key.this.released = new CompletableFuture<>();
				return Key.this.released;
			}
		}, Duration.ofSeconds(1), events(), Time.SYSTEM, EngineFixture.NO_THREADS), Time.SYSTEM, (at) -> {
		});

		private final KeyLock lock = new KeyLock("order:42", this,
				new RetrySchedule(() -> new Random(1), 1000 * MILLIS));

		private final List<Waiter> waiters = new ArrayList<>();

		private @Nullable Asking attempt;

		private boolean closing;

		private long now = 1000 * MILLIS;

		Key() {
			enqueue(false);
		}

		// what happens

		Waiter enqueue(boolean once) {
			LockParameters parameters = new LockParameters("order:42", null, Duration.ofNanos(TTL), true, Time.FOREVER,
					0, OnLost.THROW, false);
			Waiter waiter = new Told(this.effects, parameters,
					new Waiter.WaitOptions(this.now + Time.FOREVER, once, Time.FOREVER, true, false));
			this.waiters.add(waiter);
			this.lock.enqueue(waiter, this.now);
			return waiter;
		}

		/** The one that waits with as many before it. */
		Waiter waiter(int number) {
			while (this.waiters.stream().filter((waiter) -> waiter.outcome() == null).count() <= number) {
				enqueue(false);
				this.effects.clear();
			}
			return this.waiters.stream().filter((waiter) -> waiter.outcome() == null).skip(number).findFirst().get();
		}

		void leave(Waiter waiter) {
			this.lock.leave(waiter, new AcquireFailure.Interrupted(), this.now);
		}

		void answer(AcquireResult result) {
			this.lock.answered(this.attempt, result, this.now);
		}

		void fail(boolean permanent) {
			this.lock.failed(this.attempt, new LockUnavailableException("no result", null, permanent), this.now);
		}

		void tick(long time) {
			this.now += time;
			List<Renewal> batch = new ArrayList<>();
			if (held() != null || time > TTL) {
				this.lock.tick(this.now, batch);
			}
			if (!batch.isEmpty()) {
				this.effects.add("renew");
			}
		}

		void renewed(RenewResult result) {
			Held held = held();
			if (held != null) {
				long before = held.deadline();
				this.now += 10 * MILLIS;
				this.lock.renewed(token(), result, this.now, TTL, this.now);
				if (held.deadline() > before) {
					this.effects.add("longer");
				}
			}
		}

		void end() {
			Held held = held();
			if (held != null) {
				this.lock.end(held, true, this.now);
			}
		}

		// what becomes of it

		/** The cell of the table for an event. */
		String happens(Consumer<Key> event) {
			KeyState before = state();
			long due = this.lock.due();
			boolean contended = isContended();
			this.effects.clear();
			event.accept(this);
			String effects = String.join(", ", this.effects);
			if (state() != before) {
				return stateName() + (effects.isEmpty() ? "" : ": " + effects);
			}
			if (effects.isEmpty() && before instanceof Asking) {
				answer(new AcquireResult.Busy(2000, 12));
				return this.effects.contains("ask") ? "again" : "–";
			}
			if (effects.isEmpty() && before instanceof KeyState.Releasing) {
				this.released.complete(new ReleaseResult.Released());
				return this.effects.contains("release") ? "again" : "–";
			}
			if (effects.isEmpty() && this.lock.due() < due) {
				return "soon";
			}
			if (effects.isEmpty() && isContended() != contended) {
				return "contended";
			}
			return effects.isEmpty() ? "–" : effects;
		}

		private boolean isContended() {
			Held held = held();
			return held != null && held.claim.contention().nanos(true, this.now) >= 0;
		}

		@Nullable KeyState state() {
			return this.lock.<@Nullable KeyState>read((state, waiting) -> state);
		}

		String stateName() {
			KeyState present = state();
			return (present != null) ? present.getClass().getSimpleName() : "free";
		}

		@Nullable Held held() {
			return (state() instanceof Held held) ? held : null;
		}

		OwnerToken token() {
			return TOKEN;
		}

		// the port

		@Override
		public Claim newClaim(int grantMillis, long now) {
			return new Claim(TOKEN, now);
		}

		@Override
		public void send(Asking attempt, boolean mayBlock) {
			this.attempt = attempt;
			this.effects.add("ask");
		}

		@Override
		public Releases releases() {
			return this.releases;
		}

		@Override
		public void openInbox() {
			this.effects.add("listen");
		}

		@Override
		public void lost(Held hold, Cause cause, long now) {
			this.effects.add("report");
		}

		@Override
		public LockUnavailableException noteUnanswered(AcquireRequest request) {
			return new LockUnavailableException("not answered");
		}

		@Override
		public Duration lease(Duration ttl) {
			return ttl;
		}

		@Override
		public boolean isClosing() {
			return this.closing;
		}

		@Override
		public boolean isStopped() {
			return false;
		}

		@Override
		public boolean hasQueue() {
			return true;
		}

		@Override
		public boolean isInformed() {
			return true;
		}

		@Override
		public boolean isOrdered() {
			return false;
		}

		@Override
		public LockEvents events() {
			return new LockEvents(LockEvents.NOBODY, LockRecorder.NONE, Runnable::run);
		}

		@Override
		public void stoppedAsking(Asking attempt) {
		}

		@Override
		public void drop(KeyLock lock) {
		}

		@Override
		public void due(long at) {
		}

	}

	/**
	 * A waiter that does nothing.
	 */
	private static final class Told extends Waiter {

		private final List<String> effects;

		Told(List<String> effects, LockParameters parameters, WaitOptions options) {
			super(parameters, options);
			this.effects = effects;
		}

		@Override
		void wake() {
			this.effects.add("tell");
		}

		@Override
		boolean endsItself() {
			return true;
		}

		@Override
		@Nullable Thread thread() {
			return null;
		}

	}

}
