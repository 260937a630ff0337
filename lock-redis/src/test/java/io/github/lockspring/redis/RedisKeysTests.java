package io.github.lockspring.redis;

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
	void plainKeyIsTheTagOfItsSiblings() {
		assertThat(this.keys.all("order:42")).containsExactly("lock:order:42", "{lock:order:42}:fence",
				"{lock:order:42}:queue");
	}

	@Test
	void keyWithATagSharesItWithItsSiblings() {
		assertThat(this.keys.all("order:{42}:x")).containsExactly("lock:order:{42}:x", "{42}:fence:lock:order:{42}:x",
				"{42}:queue:lock:order:{42}:x");
	}

	@Test
	void keyThatCannotStandInBracesGetsANumberOfItsSlot() {
		String sibling = this.keys.all("a}b").get(1);
		assertThat(sibling).matches("\\{\\d+}:fence:lock:a}b");
	}

	@Test
	void siblingsOfAllKeysAreInTheSlotOfTheirLockAndNoTwoAreTheSame() throws Exception {
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
					assertThat(seen.putIfAbsent(name, key)).as(name).isIn(null, key);
				}
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
