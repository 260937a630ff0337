package io.github.lockspring.redis.internal;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

import io.github.lockspring.testsupport.redis.RedisServer;
import io.github.lockspring.testsupport.redis.RespClient;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class RedisKeysTests {

	private final RedisKeys keys = new RedisKeys("lock:");

	@Test
	void locksOfASlotShareTheirLastFencingTokenUnderAtMostSixteenThousandNames() {
		Map<Integer, String> bySlot = new HashMap<>();
		for (int i = 0; i < 200_000; i++) {
			List<String> names = this.keys.lockAndFencingToken("order:" + i);
			int slot = RedisKeys.slot(names.get(0));
			assertThat(RedisKeys.slot(names.get(1))).isEqualTo(slot);
			assertThat(bySlot.putIfAbsent(slot, names.get(1))).isIn(null, names.get(1));
		}
		assertThat(bySlot).hasSizeBetween(16_000, 16_384);
	}

	@Test
	void allNamesAreInTheSlotOfTheirLockAndNoTwoLocksHaveOneQueue() throws Exception {
		Random random = new Random(42);
		Map<String, String> seen = new HashMap<>();
		try (RedisServer server = RedisServer.start("--cluster-enabled", "yes"); RespClient client = server.connect()) {
			for (int i = 0; i < 10_000; i++) {
				String key = randomKey(random);
				List<String> all = this.keys.all(key);
				Object slot = client.command("CLUSTER", "KEYSLOT", all.get(0));
				assertThat(slot).isEqualTo((long) RedisKeys.slot(all.get(0)));
				for (String name : all) {
					assertThat(client.command("CLUSTER", "KEYSLOT", name)).as(name).isEqualTo(slot);
				}
				assertThat(seen.putIfAbsent(all.get(0), key)).as(key).isIn(null, key);
				assertThat(seen.putIfAbsent(all.get(1), "")).as("a fencing token is no lock or queue").isIn(null, "");
				assertThat(seen.putIfAbsent(all.get(2), key)).as(key).isIn(null, key);
			}
		}
	}

	// short, of few letters, so that braces meet in all ways and keys repeat
	private static String randomKey(Random random) {
		String letters = "{}{}a:0é";
		StringBuilder key = new StringBuilder();
		for (int length = 1 + random.nextInt(8); length > 0; length--) {
			key.append(letters.charAt(random.nextInt(letters.length())));
		}
		return key.toString();
	}

}
