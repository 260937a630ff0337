package io.github.lockspring.redis.redlock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.redis.internal.RedisKeys;
import io.github.lockspring.testsupport.redis.RedisServer;
import io.github.lockspring.testsupport.redis.RedisVersion;
import io.github.lockspring.testsupport.redis.RespClient;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.data.redis.core.script.RedisScript;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/**
 * The scripts of the nodes alone, against real servers: what they answer, and what they
 * leave.
 */
@ParameterizedClass
@EnumSource
class RedlockScriptsTests {

	private static final String LOCK = "lock:a b";

	private static final long DAY = Duration.ofDays(1).toMillis();

	private static final String FENCE = new RedisKeys("lock:").lockAndFencingToken("a b").get(1);

	private static final String ONE = "AAAAAAAAAAAAAAAAAAAAA1.7.5000";

	private static final String TWO = "AAAAAAAAAAAAAAAAAAAAA2.8.900";

	private static final String ANY = "9007199254740991";

	/** Of a node whose clock is years ahead. */
	private static final String AHEAD = "1999999999999900";

	private static final String AHEAD_WITH_ROOM = "2000000000000900";

	private static final String FURTHER_AHEAD = "2999999999999999";

	private final RedisServer server;

	// the binaries of 6.2 need libraries that a machine may not have
	RedlockScriptsTests(RedisVersion version) {
		assumeThat(version.banner()).as("%s runs on this machine", version).isNotEmpty();
		this.server = RedisServer.shared(version);
	}

	@BeforeEach
	void flush() {
		this.server.flushAll();
	}

	@Test
	void voteTakesAFreeLockAndDoesNotRememberTheToken() {
		String[] answer = vote(ONE, 3, 30_000);
		assertThat(answer).startsWith("1", "-");
		assertThat(answer[2]).matches("\\d{16}");
		assertThat(this.server.get(LOCK)).isEqualTo(ONE + ":3");
		assertThat(this.server.pttl(LOCK)).isBetween(15_001L, 30_000L);
		assertThat(this.server.keys()).containsExactly(LOCK);
	}

	@Test
	void voteForAnotherNamesItAndSaysForHowLong() {
		vote(ONE, 3, 30_000);
		this.server.command("SET", FENCE, "8999999999999998", "PX", "60000");
		String[] answer = vote(TWO, 4, 60_000);
		assertThat(answer).startsWith("0", "-").endsWith("8999999999999998", ONE + ":3");
		assertThat(Long.parseLong(answer[2])).isBetween(15_001L, 30_000L);
		assertThat(this.server.get(LOCK)).isEqualTo(ONE + ":3");
		assertThat(this.server.pttl(LOCK)).isLessThanOrEqualTo(30_000);
	}

	@Test
	void laterAttemptOfTheSameTokenRaisesTheNumberAndNeverShortens() {
		vote(ONE, 3, 30_000);
		assertThat(vote(ONE, 4, 1_000)[0]).isEqualTo("1");
		assertThat(this.server.get(LOCK)).isEqualTo(ONE + ":4");
		assertThat(this.server.pttl(LOCK)).isGreaterThan(15_000);
		assertThat(vote(ONE, 5, 90_000)[0]).isEqualTo("1");
		assertThat(this.server.pttl(LOCK)).isGreaterThan(45_000);
		assertThat(vote(ONE, 2, 1_000)[0]).as("one that comes late").isEqualTo("1");
		assertThat(this.server.get(LOCK)).isEqualTo(ONE + ":5");
	}

	@Test
	void tokenThatBeginsWithAnotherOneIsAnother() {
		vote(ONE + "0", 3, 30_000);
		assertThat(vote(ONE, 4, 30_000)[0]).isEqualTo("0");
		assertThat(withdraw(ONE, ANY, "0", 0)).isEqualTo("0 0");
		assertThat(confirm(ONE, 4, 30_000, "5")).isEqualTo("0");
		assertThat(renew(ONE, 3, 60_000)).isEqualTo(List.of(0L));
		assertThat(this.server.pttl(LOCK)).isLessThanOrEqualTo(30_000);
	}

	@Test
	void voteGivesTheNextTokenAndNotOneAheadOfIt() {
		this.server.command("SET", FENCE, "8999999999990000", "PX", "60000");
		assertThat(vote(ONE, 1, 30_000)[2]).isEqualTo("8999999999990001");
	}

	@Test
	void confirmationLeavesRoomForTheTokensOfAnOwnershipThatReportsNoneIfTheClockIsBehindAtItsEnd() {
		long now = TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis());
		vote(ONE, 1, 30_000);
		assertThat(confirm(ONE, 1, 30_000, String.valueOf(now))).isEqualTo("1");
		assertThat(this.server.get(FENCE)).as("the lease ends after the last token").isEqualTo(String.valueOf(now));
		long ahead = now + TimeUnit.HOURS.toMicros(1);
		assertThat(confirm(ONE, 1, 30_000, String.valueOf(ahead))).isEqualTo("1");
		assertThat(this.server.get(FENCE)).isEqualTo(String.valueOf(ahead + 1000));
	}

	@Test
	void inspectionTellsANumberAboveTheTokensOfLocalHandOffs() {
		this.server.command("SET", FENCE, "8999999999990000", "PX", "60000");
		vote(ONE, 1, 30_000);
		List<?> lock = (List<?>) eval(RedlockScripts.INSPECT, List.of(LOCK, FENCE));
		assertThat(lock.get(3)).isEqualTo("8999999999991000");
	}

	@Test
	void f14ServerThatWasStartedRecentlyHasNoVoteAndSaysWhoItIs() {
		String[] answer = vote(ONE, 1, 30_000, "100000000", "1");
		assertThat(answer[0]).isEqualTo("2");
		assertThat(answer[1]).isEqualTo(info("run_id"));
		assertThat(Long.parseLong(answer[2]) + Long.parseLong(answer[3])).isEqualTo(100_000_000);
		assertThat(this.server.keys()).isEmpty();
		assertThat(vote(ONE, 1, 30_000, "0", "1")).startsWith("1", info("run_id"));
	}

	@Test
	void serverThatMayNotSayWhenItWasStartedHasNoVote() throws Exception {
		this.server.command("ACL", "SETUSER", "silent", "on", "nopass", "~*", "+@all", "-info");
		try (RespClient client = this.server.connect()) {
			client.command("AUTH", "silent", "any");
			String answer = (String) client.command("EVAL", RedlockScripts.ACQUIRE.getScriptAsString(), "2", LOCK,
					FENCE, ONE, "1", "30000", "1", "0");
			assertThat(answer).startsWith("3 ");
			assertThat(Vote.parse(answer)).isInstanceOf(Vote.NoVote.class);
		}
		finally {
			this.server.command("ACL", "DELUSER", "silent");
		}
		assertThat(this.server.keys()).isEmpty();
	}

	@Test
	void lateWithdrawalOfAnEarlierAttemptTakesNothingFromALaterOne() {
		vote(ONE, 1, 30_000);
		vote(ONE, 2, 30_000);
		assertThat(withdraw(ONE, "1", "0", 0)).startsWith("0 ");
		assertThat(this.server.get(LOCK)).isEqualTo(ONE + ":2");
		assertThat(withdraw(ONE, "2", "0", 0)).isEqualTo("1");
		assertThat(this.server.keys()).isEmpty();
	}

	@Test
	void voteOfAnEarlierAttemptIsNeitherConfirmedNorRenewedAndItsWithdrawalTakesIt() {
		vote(ONE, 2, 30_000);
		assertThat(withdraw(ONE, ANY, "0", 0)).as("the ownership has ended").isEqualTo("1");
		vote(ONE, 1, 15_000);
		assertThat(confirm(ONE, 2, 30_000, "5")).isEqualTo("0");
		assertThat(renew(ONE, 2, 30_000)).isEqualTo(List.of(0L));
		assertThat(this.server.pttl(LOCK)).isLessThanOrEqualTo(15_000);
		assertThat(withdraw(ONE, "1", "0", 0)).isEqualTo("1");
		assertThat(this.server.keys()).isEmpty();
	}

	@Test
	void voteOfALaterAttemptIsConfirmedAndRenewed() {
		vote(ONE, 3, 15_000);
		assertThat(confirm(ONE, 2, 30_000, "5")).isEqualTo("1");
		assertThat(renew(ONE, 2, 60_000)).isEqualTo(List.of(1L));
		assertThat(this.server.get(LOCK)).isEqualTo(ONE + ":3");
		assertThat(this.server.pttl(LOCK)).isGreaterThan(30_000);
	}

	@Test
	void endOfAnOwnershipReportsItsLastTokenAndKeepsTheLock() {
		vote(ONE, 1, 30_000);
		String last = "1999999999999999";
		assertThat(withdraw(ONE, ANY, last, 20_000)).isEqualTo("1");
		assertThat(this.server.get(FENCE)).isEqualTo(last);
		assertThat(this.server.pttl(FENCE)).isBetween(DAY - 60_000, DAY);
		assertThat(this.server.get(LOCK)).isEqualTo(ONE + ".kept");
		assertThat(this.server.pttl(LOCK)).isBetween(1L, 20_000L);
		assertThat(withdraw(ONE, ANY, last, 20_000)).as("repeated").isEqualTo("1");
		assertThat(vote(ONE, 2, 30_000)[0]).as("the old token has ended").isEqualTo("0");
	}

	@Test
	void wholeValueOfAKeptOrForeignLockIsWithdrawnToo() {
		for (String value : List.of(ONE + ".kept", "foreign", "foreign:7")) {
			this.server.flushAll();
			this.server.command("SET", LOCK, value, "PX", "30000");
			assertThat(withdraw(TWO, ANY, AHEAD, 0)).isEqualTo("0 0");
			assertThat(this.server.get(LOCK)).isEqualTo(value);
			assertThat(withdraw(value, ANY, AHEAD, 0)).isEqualTo("1");
			assertThat(this.server.keys()).containsExactly(FENCE);
			assertThat(this.server.get(FENCE)).isEqualTo(AHEAD);
			assertThat(withdraw(value, ANY, FURTHER_AHEAD, 0)).as("repeated").isEqualTo("0 " + AHEAD);
		}
	}

	@Test
	void serverWithoutMemoryStoresTheTokenThatItConfirmsAndLetsGo() {
		vote(ONE, 1, 30_000);
		this.server.command("CONFIG", "SET", "maxmemory", "1");
		try {
			assertThat(confirm(ONE, 1, 1_000, AHEAD)).isEqualTo("1");
			assertThat(this.server.get(FENCE)).isEqualTo(AHEAD_WITH_ROOM);
			assertThat(withdraw(ONE, ANY, "1999999999999999", 5_000)).isEqualTo("1");
			assertThat(this.server.get(LOCK)).isEqualTo(ONE + ".kept");
		}
		finally {
			this.server.command("CONFIG", "SET", "maxmemory", "0");
		}
	}

	@Test
	void h27ConfirmationRemembersTheTokenAndLengthensButNeverLowers() {
		vote(ONE, 1, 15_000);
		assertThat(confirm(ONE, 1, 30_000, AHEAD)).isEqualTo("1");
		assertThat(this.server.get(FENCE)).isEqualTo(AHEAD_WITH_ROOM);
		assertThat(this.server.pttl(FENCE)).isBetween(DAY - 60_000, DAY);
		assertThat(this.server.pttl(LOCK)).isBetween(15_001L, 30_000L);
		this.server.command("PEXPIRE", FENCE, "60000");
		assertThat(confirm(ONE, 1, 1_000, "1999999999999850")).isEqualTo("1");
		assertThat(this.server.get(FENCE)).isEqualTo(AHEAD_WITH_ROOM);
		assertThat(this.server.pttl(FENCE)).isGreaterThan(590_000);
		assertThat(this.server.pttl(LOCK)).isGreaterThan(15_000);
	}

	@Test
	void h27ConfirmationThatComesLateDoesNotRaiseTheTokenUnderTheNextHolder() {
		vote(ONE, 1, 15_000);
		this.server.command("DEL", LOCK);
		vote(TWO, 2, 30_000);
		confirm(TWO, 2, 30_000, AHEAD);
		assertThat(confirm(ONE, 1, 30_000, FURTHER_AHEAD)).isEqualTo("0");
		assertThat(this.server.get(FENCE)).isEqualTo(AHEAD_WITH_ROOM);
		assertThat(this.server.get(LOCK)).isEqualTo(TWO + ":2");
		withdraw(TWO, ANY, "0", 0);
		assertThat(confirm(ONE, 1, 30_000, FURTHER_AHEAD)).as("it creates no lock").isEqualTo("0");
		assertThat(this.server.keys()).containsExactly(FENCE);
	}

	private String info(String name) {
		String info = (String) this.server.command("INFO", "server");
		return info.lines()
			.filter((line) -> line.startsWith(name + ":"))
			.map((line) -> line.substring(name.length() + 1))
			.findFirst()
			.orElseThrow();
	}

	private String[] vote(String token, long attempt, long ttl) {
		return vote(token, attempt, ttl, "0", "0");
	}

	private String[] vote(String token, long attempt, long ttl, String pause, String identify) {
		return ((String) eval(RedlockScripts.ACQUIRE, List.of(LOCK, FENCE), token, String.valueOf(attempt),
				String.valueOf(ttl), pause, identify))
			.split(" ");
	}

	private String confirm(String token, long attempt, long ttl, String fencingToken) {
		return ((List<?>) renew(token, attempt, ttl, fencingToken)).get(0).toString();
	}

	private String withdraw(String token, String attempt, String lastFencingToken, long keep) {
		return (String) eval(RedlockScripts.WITHDRAW, List.of(LOCK, FENCE), token, attempt, lastFencingToken,
				String.valueOf(keep));
	}

	private Object renew(String token, long attempt, long ttl) {
		return renew(token, attempt, ttl, "0");
	}

	private Object renew(String token, long attempt, long ttl, String fencingToken) {
		return eval(RedlockScripts.RENEW, List.of(LOCK, FENCE), token, String.valueOf(attempt), String.valueOf(ttl),
				fencingToken);
	}

	private Object eval(RedisScript<?> script, List<String> keys, String... args) {
		List<String> words = new ArrayList<>(List.of("EVAL", script.getScriptAsString(), String.valueOf(keys.size())));
		words.addAll(keys);
		words.addAll(List.of(args));
		return this.server.command(words.toArray(String[]::new));
	}

}
