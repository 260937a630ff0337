package io.github.lockspring.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import io.github.lockspring.redis.internal.RedisKeys;
import io.github.lockspring.testsupport.redis.RedisServer;
import io.github.lockspring.testsupport.redis.RespClient;
import org.junit.jupiter.api.BeforeEach;
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
		assertThat(server.pttl(LOCK)).isBetween(25_000L, 30_000L);
		assertThat(server.pttl(FENCE)).isBetween(DAY - 5000, DAY);
		assertThat(server.keys()).containsExactlyInAnyOrder(LOCK, FENCE);
	}

	@Test
	void acquireOfABusyLockQueuesOnlyRequestsThatWait() {
		acquire(ONE, 30_000, 0);
		String[] answer = acquire(TWO, 30_000, 0);
		assertThat(answer[0]).isEqualTo("0");
		assertThat(Long.parseLong(answer[1])).isBetween(25_000L, 30_000L);
		assertThat(server.exists(QUEUE)).isFalse();
		acquire(TWO, 30_000, 1);
		acquire(THREE, 30_000, 1);
		acquire(TWO, 30_000, 1);
		assertThat(server.command("ZRANGE", QUEUE, "0", "-1")).isEqualTo(List.of(TWO, THREE));
		assertThat(server.pttl(QUEUE)).isBetween(55_000L, 60_000L);
		assertThat(server.get(LOCK)).isEqualTo(ONE);
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
		assertThat(server.pttl(QUEUE)).isBetween(55_000L, 60_000L);
	}

	@Test
	void acquireOfAWaitingTokenLeavesTheQueue() {
		acquire(ONE, 30_000, 0);
		acquire(TWO, 30_000, 1);
		server.command("DEL", LOCK);
		assertThat(acquire(TWO, 30_000, 1)).startsWith("1");
		assertThat(server.exists(QUEUE)).isFalse();
	}

	@Test
	void releaseHandsOverToATokenThatNeedsNoMessageWithoutASubscriber() {
		acquire(ONE, 30_000, 0);
		acquire(SHORT, 30_000, 1);
		// at once, since half a second may pass between two commands
		server.command("MULTI");
		release(ONE, "0", 0);
		server.command("GET", LOCK);
		server.command("PTTL", LOCK);
		eval(RedisScripts.ACQUIRE, List.of(LOCK, FENCE, QUEUE), SHORT, "30000", "1");
		List<?> replies = (List<?>) Objects.requireNonNull(server.command("EXEC"));
		assertThat((String) replies.get(0)).startsWith("2 1 g " + SHORT);
		assertThat(replies.get(1)).isEqualTo(SHORT);
		assertThat((Long) replies.get(2)).isBetween(1L, 500L);
		assertThat((String) replies.get(3)).startsWith("1 ");
		assertThat(server.pttl(LOCK)).isGreaterThan(25_000);
	}

	@Test
	void acquireByTheOwnerLengthensButNeverShortens() {
		acquire(ONE, 30_000, 0);
		String before = server.get(FENCE);
		String[] answer = acquire(ONE, 1_000, 0);
		assertThat(answer[0]).isEqualTo("1");
		assertThat(answer[1]).isGreaterThan(before);
		assertThat(server.pttl(LOCK)).isGreaterThan(25_000);
		acquire(ONE, 90_000, 0);
		assertThat(server.pttl(LOCK)).isGreaterThan(85_000);
	}

	@Test
	void acquireContinuesAfterAFencingTokenFromTheFuture() {
		server.command("SET", FENCE, "8999999999999998", "PX", "60000");
		assertThat(acquire(ONE, 30_000, 0)).containsExactly("1", "8999999999999999");
		assertThat(server.get(FENCE)).isEqualTo("8999999999999999");
		assertThat(server.pttl(FENCE)).isGreaterThan(590_000);
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
	void acquireOfALockWithoutTtlIsBusyWithoutEnd() {
		server.command("SET", LOCK, "a plain client");
		String[] answer = acquire(TWO, 30_000, 1);
		assertThat(answer).startsWith("0", "-1");
		assertThat(server.pttl(LOCK)).isEqualTo(-1);
	}

	@Test
	void acquireGivesItsOwnLockATtlAgain() {
		server.command("SET", LOCK, ONE);
		assertThat(acquire(ONE, 30_000, 0)[0]).isEqualTo("1");
		assertThat(server.pttl(LOCK)).isGreaterThan(25_000);
	}

	@Test
	void releaseLeavesTheFencingTokenAlone() {
		acquire(ONE, 30_000, 0);
		assertThat(release(ONE, "0", 0)).isEqualTo("1");
		assertThat(server.keys()).containsExactly(FENCE);
		assertThat(server.pttl(FENCE)).isPositive();
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
	void releaseThatKeepsLeavesAValueThatIsNoOwnersToken() {
		acquire(ONE, 30_000, 0);
		acquire(TWO, 30_000, 1);
		assertThat(release(ONE, "0", 5_000)).isEqualTo("1");
		assertThat(release(ONE, "0", 5_000)).isEqualTo("1");
		assertThat(server.get(LOCK)).isEqualTo(ONE + ".kept");
		assertThat(server.pttl(LOCK)).isBetween(1L, 5_000L);
		assertThat(server.exists(QUEUE)).isTrue();
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
	void releaseWithoutExactCountHandsOverAllTheSame() {
		acquire(ONE, 30_000, 0);
		acquire(TWO, 30_000, 1);
		String answer = releaseWith("0", ONE, "0", 0);
		assertThat(answer).startsWith("2 1 g " + TWO);
		assertThat(server.get(LOCK)).isEqualTo(TWO);
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
	void wantedGoesToTheOwnersInboxAtEachAttemptAndToNoForeignOwner() throws Exception {
		try (RespClient inbox = server.connect()) {
			inbox.command("SUBSCRIBE", "lock:inbox:AAAAAAAAAAAAAAAAAAAAA1");
			acquire(ONE, 30_000, 0);
			acquire(TWO, 30_000, 1);
			assertThat(inbox.read()).asList().last().isEqualTo("w " + ONE + " " + LOCK);
			acquire(TWO, 30_000, 1);
			assertThat(inbox.read()).asList().last().isEqualTo("w " + ONE + " " + LOCK);
		}
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

	@Test
	void confirmationCountsSubscribersAndReachesThem() throws Exception {
		List<String> anyKey = List.of("any");
		assertThat(eval(RedisScripts.CONFIRM, anyKey, "lock:inbox:1", "p")).isEqualTo("0 1");
		try (RespClient inbox = server.connect()) {
			inbox.command("SUBSCRIBE", "lock:inbox:1");
			assertThat(eval(RedisScripts.CONFIRM, anyKey, "lock:inbox:1", "p")).isEqualTo("1 1");
			assertThat(inbox.read()).asList().last().isEqualTo("p");
		}
		assertThat(server.keys()).isEmpty();
	}

	@Test
	void renewLengthensOwnLeasesOnlyAndCreatesNothing() {
		server.command("SET", "lock:1", ONE, "PX", "15000");
		server.command("SET", "lock:2", TWO, "PX", "15000");
		server.command("SET", "lock:3", THREE, "PX", "90000");
		Object answer = eval(RedisScripts.RENEW, List.of("lock:1", "lock:2", "lock:3", "lock:4"), ONE, "30000", ONE,
				"30000", THREE, "30000", ONE, "30000");
		assertThat(answer).isEqualTo(List.of(1L, 0L, 1L, 0L));
		assertThat(server.pttl("lock:1")).isGreaterThan(25_000);
		assertThat(server.pttl("lock:2")).isBetween(1L, 15_000L);
		assertThat(server.pttl("lock:3")).isGreaterThan(85_000);
		assertThat(server.keys()).containsExactlyInAnyOrder("lock:1", "lock:2", "lock:3");
	}

	/** What was not written says nothing about the replicas. */
	@Test
	void renewalAndRepeatedReleaseOfAKeptLockAreWrittenAlsoIfNothingChanges() {
		acquire(ONE, 90_000, 0);
		server.command("CONFIG", "RESETSTAT");
		assertThat(eval(RedisScripts.RENEW, List.of(LOCK), ONE, "30000")).isEqualTo(List.of(1L));
		assertThat(server.calls("pexpire")).isEqualTo(1);
		assertThat(server.pttl(LOCK)).isBetween(85_000L, 90_000L);
		assertThat(release(ONE, "0", 60_000)).isEqualTo("1");
		server.command("CONFIG", "RESETSTAT");
		assertThat(release(ONE, "0", 60_000)).isEqualTo("1");
		assertThat(server.calls("pexpire")).isEqualTo(1);
		assertThat(server.pttl(LOCK)).isBetween(55_000L, 60_000L);
	}

	/** The clock of the server is behind the last token, so only that counts. */
	@Test
	void inspectionTellsANumberAboveTheTokensOfLocalHandOffs() {
		server.command("SET", FENCE, "8000000000000000", "PX", "60000");
		long acquired = Long.parseLong(acquire(ONE, 30_000, 0)[1]);
		List<?> lock = (List<?>) eval(RedisScripts.INSPECT, List.of(LOCK, FENCE, QUEUE), "1");
		assertThat(Long.parseLong((String) lock.get(3))).isGreaterThanOrEqualTo(acquired + 1000);
	}

	@Test
	void uncontendedScriptsMakeThreeCallsEach() {
		release(ONE, "0", 0);
		acquire(ONE, 30_000, 0);
		release(ONE, "0", 0);
		server.command("CONFIG", "RESETSTAT");
		acquire(ONE, 30_000, 0);
		assertThat(server.calls()).as("TIME, SET, SET and the EVAL itself").isEqualTo(4);
		server.command("CONFIG", "RESETSTAT");
		release(ONE, "0", 0);
		assertThat(server.calls()).as("GET, EXISTS, DEL and the EVAL itself").isEqualTo(4);
	}

	@Test
	void headersSayWhatScriptsTakeAndReturn() {
		for (RedisScript<?> script : List.of(RedisScripts.ACQUIRE, RedisScripts.RELEASE, RedisScripts.RENEW,
				RedisScripts.CONFIRM)) {
			assertThat(script.getScriptAsString()).startsWith("-- ")
				.contains("-- KEYS", "-- ARGV", "-- Returns", "ever ");
		}
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
