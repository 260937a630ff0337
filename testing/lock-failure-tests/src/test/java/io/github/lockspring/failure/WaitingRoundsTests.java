package io.github.lockspring.failure;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.lockspring.failure.Arena.Fault;
import io.github.lockspring.testsupport.history.HistoryChecker;
import io.github.lockspring.testsupport.history.RecordedEvents;
import io.github.lockspring.testsupport.process.RunDirectory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Rounds in which something happens to one of several instances that all contend for one
 * lock without a pause. Few by default; a thousand of each kind with
 * {@code mvn -Prounds -pl :lock-failure-tests -am test}.
 * <p>
 * The bounds are those of the protocol's timers, with {@code g} for the lease that a
 * hand-over gives and {@code S} for the time between two looks of a waiter. The lease is
 * chosen so short that {@code g} is the whole of it; a look's answer takes a round trip.
 * <ul>
 * <li>A message that is lost, and a lock that somebody gave back without a word: each
 * waiter looks again within S, so the lock is idle for S and a round trip. With faults of
 * messages only, and between rounds, it is never idle for longer.</li>
 * <li>An instance that died, stands still or is cut off: its inbox has no subscriber, and
 * it is passed over; or the server does not know yet, or cannot, and it is granted the
 * lock: that ends after g. Or it had the lock already: that ends after the ttl, which is
 * g here. Its place in the queue is used up by that, so it happens once. Waiters then
 * find the lock within S: idle for g + S and a round trip. A release that was on its way
 * when the connection broke is no worse.</li>
 * <li>Somebody who waits meanwhile waits for that, and for the sections of those who were
 * there before.</li>
 * </ul>
 */
@Timeout(value = 3, unit = TimeUnit.HOURS)
class WaitingRoundsTests {

	/** How many waiters of each kind something happens to; 0: a few. */
	private static final int ROUNDS = Integer.getInteger("lockspring.rounds", 0);

	private static final long SEED = Long.getLong("lockspring.rounds.seed", System.nanoTime());

	/** A command and its answer, with the time until somebody who slept runs. */
	private static final Duration ROUND_TRIP = Duration.ofMillis(15);

	/**
	 * What the build allows beside the lateness that is measured, which is not that of
	 * each thread: the machine may be busy, and a waiter that was forgotten waits for
	 * minutes.
	 */
	private static final Duration ALLOWANCE = (ROUNDS > 0) ? Duration.ZERO : Duration.ofSeconds(2);

	/** Short, since it ends often; in the build not too short for a busy machine. */
	private static final Duration TTL = Duration.ofMillis((ROUNDS > 0) ? 400 : 1500);

	private static final int INSTANCES = 3;

	/** How often few rounds are played if the machine was too busy for the bounds. */
	private static final int ATTEMPTS = (ROUNDS > 0) ? 1 : 3;

	@Test
	@Tag("h10")
	void f23KilledOrStoppedWaiterCostsTheOthersNoMoreThanItsGrant() throws Exception {
		play("processes", Fault.KILLED, Fault.STOPPED, Fault.STOPPED_AND_KILLED);
	}

	@Test
	void f24CutOffWaiterCostsTheOthersNoMoreThanItsGrantAndALostMessageOnlyARetry() throws Exception {
		play("connections", Fault.CUT, Fault.SILENCED, Fault.INBOX_CUT, Fault.MESSAGES_LOST);
	}

	private static void play(String name, Fault... faults) throws Exception {
		int rounds = Math.max(faults.length, ROUNDS * faults.length / Contender.KEYS.size());
		for (int attempt = 1;; attempt++) {
			try (Arena arena = new Arena(INSTANCES, TTL, RunDirectory.of("rounds").resolve(name), SEED)) {
				for (int i = 0; i < rounds; i++) {
					arena.round(faults[i % faults.length]);
				}
				RecordedEvents events = arena.events();
				assertThat(HistoryChecker.check(events.holds(), events.acquisitions(), List.of())).isEmpty();
				assertThat(events.faults()).isEmpty();
				String broken = brokenBounds(arena, events);
				if (broken.isEmpty()) {
					return;
				}
				assertThat(attempt).withFailMessage(broken).isLessThan(ATTEMPTS);
				System.out.println("Once more: " + broken);
			}
		}
	}

	private static String brokenBounds(Arena arena, RecordedEvents events) {
		Duration interval = TTL.dividedBy(4);
		Duration look = interval.plus(ROUND_TRIP).plus(ALLOWANCE);
		// of all others once, and of this instance's other threads
		Duration sections = Contender.LONGEST_SECTION.plus(ROUND_TRIP)
			.multipliedBy((long) INSTANCES * Contender.THREADS_FOR_EACH_KEY + 1);
		// a request has a third of the ttl for its answer, and a quarter of that more
		Duration unanswered = TTL.multipliedBy(5).dividedBy(12).plus(look);
		Timeline.Bounds bounds = new Timeline.Bounds(look, TTL.plus(look), unanswered, sections, interval);
		System.out.println("Rounds with seed " + SEED + ": " + arena.rounds.size() + ", " + bounds + ", "
				+ events.holds().size() + " holds, " + events.counts());
		return Contender.KEYS.stream()
			.map((key) -> new Timeline(key, events, arena.rounds, bounds))
			.flatMap((timeline) -> Stream.concat(timeline.gaps().stream(), timeline.waits().stream()))
			.collect(Collectors.joining("\n"));
	}

}
