package io.github.lockspring.redis.internal;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.github.lockspring.store.InstanceInfo;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * The descriptions of instances that are registered on a server.
 *
 * @param keys the names of their keys
 * @since 0.1
 */
public record Instances(RedisKeys keys) {

	/**
	 * Registers an instance.
	 * @param template sends the command
	 * @param instance the instance
	 * @param info describes it
	 * @param ttl how long it is registered
	 * @return true
	 */
	public boolean register(StringRedisTemplate template, String instance, InstanceInfo info, Duration ttl) {
		template.opsForValue()
			.set(this.keys.instance(instance), info.pid() + " " + info.host() + " " + info.application(), ttl);
		return true;
	}

	/**
	 * Looks instances up.
	 * @param template sends the command
	 * @param instances the instances
	 * @return those that are registered
	 */
	public Map<String, InstanceInfo> find(StringRedisTemplate template, Collection<String> instances) {
		List<String> distinct = instances.stream().distinct().toList();
		List<@Nullable String> values = template.opsForValue()
			.multiGet(distinct.stream().map(this.keys::instance).toList());
		Map<String, InstanceInfo> known = new HashMap<>();
		for (int i = 0; values != null && i < values.size(); i++) {
			InstanceInfo info = parse(values.get(i));
			if (info != null) {
				known.put(distinct.get(i), info);
			}
		}
		return known;
	}

	private static @Nullable InstanceInfo parse(@Nullable String value) {
		String[] words = (value != null) ? value.split(" ", 3) : new String[0];
		return (words.length == 3 && words[0].matches("\\d{1,18}"))
				? new InstanceInfo(words[2], words[1], Long.parseLong(words[0])) : null;
	}

}
