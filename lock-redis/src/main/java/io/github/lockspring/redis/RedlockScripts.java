package io.github.lockspring.redis;

import java.util.List;

import org.springframework.data.redis.core.script.DefaultRedisScript;
import org.springframework.data.redis.core.script.RedisScript;

/**
 * The scripts of the nodes of Redlock; each file says what it does.
 */
final class RedlockScripts {

	static final RedisScript<String> VOTE = new DefaultRedisScript<>(RedisScripts.text("vote.lua"), String.class);

	static final RedisScript<String> CONFIRM = new DefaultRedisScript<>(RedisScripts.text("confirm.lua"), String.class);

	static final RedisScript<String> WITHDRAW = new DefaultRedisScript<>(RedisScripts.text("withdraw.lua"),
			String.class);

	static final RedisScript<List<Object>> RENEW_VOTES = new DefaultRedisScript<>(RedisScripts.text("renew-votes.lua"),
			RedisScripts.listType());

	private RedlockScripts() {
	}

}
