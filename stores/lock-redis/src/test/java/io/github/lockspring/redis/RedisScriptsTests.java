package io.github.lockspring.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

import io.github.lockspring.redis.internal.RedisKeys;
import io.github.lockspring.testsupport.redis.RedisServer;
import io.github.lockspring.testsupport.redis.RespClient;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.data.redis.core.script.RedisScript;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The scripts alone, against a real server: what they answer, and what they leave.
 */
class RedisScriptsTests {

	private static final RedisServer server = RedisServer.shared();

	private static final String LOCK = "lock:a b";

	private static final long DAY = Duration.ofDays(1).toMillis();

	private static final String FENCE = new RedisKeys("lock:").lockAndFencingToken("a b").get(1);

	private static final String QUEUE = "{lock:a b}:queue";

	private static final String ONE = "AAAAAAAAAAAAAAAAAAAAA1.7.5000";

	private static final String TWO = "AAAAAAAAAAAAAAAAAAAAA2.8.9000";

	private static final String THREE = "AAAAAAAAAAAAAAAAAAAAA3.9.5000";

	private static final String SHORT = "AAAAAAAAAAAAAAAAAAAAA4.9.500";

	@BeforeEach
	void flush() {
		server.flushAll();
	}

	@Test
	void acquireTakesAFreeLockAndLeavesLockAndFencingToken() {
		String[] answer = acquire(ONE, 30_000, 0);
		assertThat(answer[0]).isEqualTo("1");
		assertThat(answer[1]).matches("\\d{16}").isEqualTo(server.get(FENCE));
		assertThat(server.get(LOCK)).isEqualTo(ONE);
		assertThat(server.pttl(LOCK)).isBetween(15_001L, 30_000L);
		assertThat(server.pttl(FENCE)).isBetween(DAY - 60_000, DAY);
		assertThat(server.keys()).containsExactlyInAnyOrder(LOCK, FENCE);
	}

	@Test
	void tokenThatNeedsNoMessageQueuesBehindThoseOfItsSecond() {
		acquire(ONE, 30_000, 0);
		acquire(SHORT, 30_000, 1);
		acquire(THREE, 30_000, 1);
		acquire(SHORT, 30_000, 1);
		assertThat(server.command("ZRANGE", QUEUE, "0", "-1")).asList().containsExactlyInAnyOrder(SHORT, THREE);
		long turn = Long.parseLong((String) server.command("ZSCORE", QUEUE, SHORT));
		long now = Long.parseLong(server.get(FENCE));
		assertThat(turn - now).isBetween(1_000_000L, 60_000_000L);
		assertThat(server.pttl(QUEUE)).isBetween(30_001L, 60_000L);
	}

	@Test
	void acquireOfAWaitingTokenLeavesTheQueue() {
		acquire(ONE, 30_000, 0);
		acquire(TWO, 30_000, 1);
		server.command("DEL", LOCK);
		assertThat(acquire(TWO, 30_000, 1)).startsWith("1");
		assertThat(server.exists(QUEUE)).isFalse();
	}

	/** Numbers of the same length are compared as text. */
	@ParameterizedTest
	@CsvSource({ "9007199254740990, 9007199254740991", "1000000000000000, ", "999, ",
			"99999999999999999, 100000000000000000", "no number, ", "no number with 16, ", "sixteen letters., " })
	void acquireComparesTheLastFencingTokenAsANumber(String last, String next) {
		server.command("SET", FENCE, last);
		String fencingToken = acquire(ONE, 30_000, 0)[1];
		if (next == null) {
			assertThat(Long.parseLong(fencingToken)).isGreaterThan(1_700_000_000_000_000L)
				.isLessThan(9_000_000_000_000_000L);
		}
		else {
			assertThat(fencingToken).isEqualTo(next);
		}
		assertThat(server.get(FENCE)).isEqualTo(fencingToken);
	}

	@Test
	void acquireGivesItsOwnLockATtlAgain() {
		server.command("SET", LOCK, ONE);
		assertThat(acquire(ONE, 30_000, 0)[0]).isEqualTo("1");
		assertThat(server.pttl(LOCK)).isGreaterThan(15_000);
	}

	@Test
	void releaseByAnotherChangesNothingButItsPlaceInTheQueue() {
		acquire(ONE, 30_000, 0);
		acquire(TWO, 30_000, 1);
		acquire(THREE, 30_000, 1);
		String fencingToken = server.get(FENCE);
		assertThat(release(TWO, "99", 0)).isEqualTo("0 " + fencingToken);
		assertThat(server.get(LOCK)).isEqualTo(ONE);
		assertThat(server.get(FENCE)).isEqualTo(fencingToken);
		assertThat(server.command("ZRANGE", QUEUE, "0", "-1")).isEqualTo(List.of(THREE));
	}

	@Test
	void releaseOfALockOfWhichNothingIsKnownSaysZero() {
		assertThat(release(ONE, "0", 0)).isEqualTo("0 0");
		assertThat(server.keys()).isEmpty();
	}

	@Test
	void h19NumbersOfSixteenDigitsAreTheSameInMessageAndKey() throws Exception {
		try (RespClient inbox = server.connect()) {
			inbox.command("SUBSCRIBE", "lock:inbox:AAAAAAAAAAAAAAAAAAAAA2");
			acquire(ONE, 30_000, 0);
			acquire(TWO, 30_000, 1);
			acquire(THREE, 30_000, 1);
			String reported = "1999999999999999";
			String answer = release(ONE, reported, 0);
			String fencingToken = "2000000000000000";
			String message = "g " + TWO + " " + fencingToken + " 1 " + LOCK;
			assertThat(answer).isEqualTo("2 1 " + message);
			assertThat(server.get(FENCE)).isEqualTo(fencingToken);
			assertThat(inbox.read()).asList().last().isEqualTo(message);
		}
		assertThat(server.get(LOCK)).isEqualTo(TWO);
		assertThat(server.pttl(LOCK)).as("the waiter's grant").isBetween(5001L, 9000L);
		assertThat(server.command("ZRANGE", QUEUE, "0", "-1")).isEqualTo(List.of(THREE));
	}

	@Test
	void h5WaiterWithoutSubscriptionIsSkippedAndNothingPublished() {
		acquire(ONE, 30_000, 0);
		acquire(TWO, 30_000, 1);
		server.command("CONFIG", "RESETSTAT");
		assertThat(release(ONE, "0", 0)).isEqualTo("1");
		assertThat(server.keys()).containsExactly(FENCE);
		assertThat(server.calls("publish")).isZero();
	}

	@Test
	void releaseHandsOverToATokenThatNeedsNoMessageWithoutASubscriber() {
		acquire(ONE, 30_000, 0);
		acquire(SHORT, 30_000, 1);
		assertThat(release(ONE, "0", 0)).startsWith("2 1 g " + SHORT);
	}

	@ParameterizedTest
	@CsvSource({ "1999999999999999, 0", "0, 5000" })
	void f30LockThatWasHandedOffOrIsKeptIsReleasedWithoutMemory(String lastFencingToken, long keep) {
		String acquired = acquire(ONE, 30_000, 0)[1];
		assertThat(withoutMemory(() -> release(ONE, lastFencingToken, keep))).isEqualTo("1");
		assertThat(server.get(LOCK)).isEqualTo((keep > 0) ? ONE + ".kept" : null);
		assertThat(server.get(FENCE)).isEqualTo(lastFencingToken.equals("0") ? acquired : lastFencingToken);
	}

	@Test
	void f30LockIsHandedOverWithoutMemory() {
		acquire(ONE, 30_000, 0);
		acquire(TWO, 30_000, 1);
		assertThat(withoutMemory(() -> releaseWith("0", ONE, "0", 0))).startsWith("2 1 g " + TWO);
		assertThat(server.get(LOCK)).isEqualTo(TWO);
	}

	private static String withoutMemory(Supplier<String> script) {
		server.command("CONFIG", "SET", "maxmemory", "1");
		try {
			return script.get();
		}
		finally {
			server.command("CONFIG", "SET", "maxmemory", "0");
		}
	}

	@Test
	@Tag("formats")
	void lockOfAnotherFormatIsBusyUntilItEnds() {
		server.command("SET", LOCK, "2|other", "PX", "30000");
		assertThat(acquire(ONE, 30_000, 1)[0]).isEqualTo("0");
		assertThat(eval(RedisScripts.RENEW, List.of(LOCK), ONE, "30000")).isEqualTo(List.of(0L));
		releaseWith("0", ONE, "0", 0);
		assertThat(server.get(LOCK)).isEqualTo("2|other");
		server.command("DEL", LOCK);
		assertThat(acquire(ONE, 30_000, 1)[0]).isEqualTo("1");
	}

	@Test
	void foreignMemberOfTheQueueIsDropped() {
		acquire(ONE, 30_000, 0);
		server.command("ZADD", QUEUE, "1", "foreign.1.5000");
		server.command("ZADD", QUEUE, "2", "AAAAAAAAAAAAAAAAAAAAA2.8.0");
		server.command("ZADD", QUEUE, "3", "AAAAAAAAAAAAAAAAAAAAA2.8.12345");
		server.command("ZADD", QUEUE, "4", TWO + ".other");
		assertThat(releaseWith("0", ONE, "0", 0)).isEqualTo("1");
		assertThat(server.keys()).containsExactly(FENCE);
	}

	@Test
	void wantedIsSentToNoForeignOwner() {
		server.command("SET", LOCK, "AAAAAAAAAAAAAAAAAAAAA1.x.y", "PX", "30000");
		server.command("CONFIG", "RESETSTAT");
		acquire(TWO, 30_000, 1);
		assertThat(server.calls("publish")).isZero();
	}

	@Test
	void wantedIsSentByTheFirstInTheQueueAtItsFirstAttemptAndByOthersLater() {
		acquire(ONE, 30_000, 0);
		server.command("CONFIG", "RESETSTAT");
		acquire(TWO, 30_000, 1);
		assertThat(server.calls("publish")).isEqualTo(1);
		acquire(THREE, 30_000, 1);
		assertThat(server.calls("publish")).isEqualTo(1);
		acquire(THREE, 30_000, 1);
		assertThat(server.calls("publish")).isEqualTo(2);
	}

	/** What was not written says nothing about the replicas. */
	@Test
	void renewalAndRepeatedReleaseOfAKeptLockAreWrittenAlsoIfNothingChanges() {
		acquire(ONE, 90_000, 0);
		server.command("CONFIG", "RESETSTAT");
		assertThat(eval(RedisScripts.RENEW, List.of(LOCK), ONE, "30000")).isEqualTo(List.of(1L));
		assertThat(server.calls("pexpire")).isEqualTo(1);
		assertThat(server.pttl(LOCK)).isBetween(45_001L, 90_000L);
		assertThat(release(ONE, "0", 60_000)).isEqualTo("1");
		server.command("CONFIG", "RESETSTAT");
		assertThat(release(ONE, "0", 60_000)).isEqualTo("1");
		assertThat(server.calls("pexpire")).isEqualTo(1);
		assertThat(server.pttl(LOCK)).isBetween(30_001L, 60_000L);
	}

	/** The clock of the server is behind the last token, so only that counts. */
	@Test
	void inspectionTellsANumberAboveTheTokensOfLocalHandOffs() {
		server.command("SET", FENCE, "8000000000000000", "PX", "60000");
		long acquired = Long.parseLong(acquire(ONE, 30_000, 0)[1]);
		List<?> lock = (List<?>) eval(RedisScripts.INSPECT, List.of(LOCK, FENCE, QUEUE), "1");
		assertThat(Long.parseLong((String) lock.get(3))).isGreaterThanOrEqualTo(acquired + 1000);
	}

	private static String[] acquire(String token, long ttl, int queue) {
		return ((String) eval(RedisScripts.ACQUIRE, List.of(LOCK, FENCE, QUEUE), token, String.valueOf(ttl),
				String.valueOf(queue)))
			.split(" ");
	}

	private static String release(String token, String lastFencingToken, long keep) {
		return releaseWith("1", token, lastFencingToken, keep);
	}

	private static String releaseWith(String exactCount, String token, String lastFencingToken, long keep) {
		return (String) eval(RedisScripts.RELEASE, List.of(LOCK, FENCE, QUEUE), token, lastFencingToken,
				String.valueOf(keep), exactCount);
	}

	private static Object eval(RedisScript<?> script, List<String> keys, String... args) {
		List<String> words = new ArrayList<>(List.of("EVAL", script.getScriptAsString(), String.valueOf(keys.size())));
		words.addAll(keys);
		words.addAll(List.of(args));
		return server.command(words.toArray(String[]::new));
	}

}
