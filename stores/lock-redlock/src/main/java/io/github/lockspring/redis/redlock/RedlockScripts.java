package io.github.lockspring.redis.redlock;

import java.util.List;

import io.github.lockspring.redis.internal.LuaScripts;

import org.springframework.data.redis.core.script.RedisScript;

/**
 * The scripts that run on one Redlock node. The header of each file describes its keys,
 * arguments and replies.
 */
final class RedlockScripts {

	static final RedisScript<String> ACQUIRE = LuaScripts.returningText(RedlockScripts.class, "acquire.lua");

	static final RedisScript<String> WITHDRAW = LuaScripts.returningText(RedlockScripts.class, "withdraw.lua");

	static final RedisScript<List<Object>> RENEW = LuaScripts.returningList(RedlockScripts.class, "renew.lua");

	static final RedisScript<List<Object>> INSPECT = LuaScripts.returningList(RedlockScripts.class, "inspect.lua");

	private RedlockScripts() {
	}

}
