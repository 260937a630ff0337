package io.github.lockspring.redis;

import java.util.List;

import io.github.lockspring.redis.internal.LuaScripts;

import org.springframework.data.redis.core.script.RedisScript;

/**
 * The scripts of a {@link RedisLockStore}, which it sends itself or through
 * {@link BatchRenewal}, {@link InboxSubscription} and {@link RedisInspector}. The header
 * of each file describes its keys, arguments and replies.
 */
final class RedisScripts {

	static final RedisScript<String> ACQUIRE = LuaScripts.returningText(RedisScripts.class, "acquire.lua");

	static final RedisScript<String> RELEASE = LuaScripts.returningText(RedisScripts.class, "release.lua");

	static final RedisScript<List<Object>> RENEW = LuaScripts.returningList(RedisScripts.class, "renew.lua");

	static final RedisScript<List<Object>> INSPECT = LuaScripts.returningList(RedisScripts.class, "inspect.lua");

	static final RedisScript<String> CONFIRM = LuaScripts.returningText(RedisScripts.class, "confirm.lua");

	private RedisScripts() {
	}

}
