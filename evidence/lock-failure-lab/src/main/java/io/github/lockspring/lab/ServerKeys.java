package io.github.lockspring.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.github.lockspring.lab.server.LabServers;
import io.github.lockspring.lab.server.RedisNode;
import org.jspecify.annotations.Nullable;

/**
 * The keys of the lock on the servers.
 *
 * @param servers the servers
 * @param script the script that takes the lock, or null
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ServerKeys(List<Server> servers, @Nullable String script) {

	static final ServerKeys NONE = new ServerKeys(List.of(), null);

	/**
	 * A server.
	 *
	 * @param id its name
	 * @param up whether it runs
	 * @param keys its keys
	 */
	public record Server(String id, boolean up, List<Key> keys) {
	}

	/**
	 * A key.
	 *
	 * @param key its name
	 * @param type its type in Redis
	 * @param value its value
	 * @param ttlMillis its time to live, -1 without one
	 * @param meaning what it is for
	 */
	public record Key(String key, String type, String value, long ttlMillis, String meaning) {
	}

	static ServerKeys read(LabServers servers, RecipeInfo recipe) {
		return new ServerKeys(servers.nodes().stream().map(ServerKeys::read).toList(),
				(recipe.ours() && !servers.nodes().isEmpty()) ? acquireScript() : null);
	}

	private static String acquireScript() {
		try (var in = ServerKeys.class.getResourceAsStream("/io/github/lockspring/redis/acquire.lua")) {
			return (in != null) ? new String(in.readAllBytes(), java.nio.charset.StandardCharsets.UTF_8) : "";
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static Server read(RedisNode node) {
		List<Key> keys = new ArrayList<>();
		try {
			if (node.call("KEYS", "*") instanceof List<?> names) {
				names.stream().limit(50).forEach((name) -> keys.add(key(node, String.valueOf(name))));
			}
			return new Server(node.id(), true, keys);
		}
		catch (UncheckedIOException ex) {
			return new Server(node.id(), false, List.of());
		}
	}

	private static Key key(RedisNode node, String name) {
		String type = String.valueOf(node.call("TYPE", name));
		Object value = switch (type) {
			case "string" -> node.call("GET", name);
			case "zset" -> node.call("ZRANGE", name, "0", "20", "WITHSCORES");
			case "hash" -> node.call("HGETALL", name);
			case "list" -> node.call("LRANGE", name, "0", "20");
			default -> "";
		};
		Object ttl = node.call("PTTL", name);
		String text = String.valueOf(value);
		return new Key(name, type, text.substring(0, Math.min(200, text.length())), (ttl instanceof Long l) ? l : -1,
				meaning(name));
	}

	private static String meaning(String name) {
		if (name.contains("fence")) {
			return "The last fencing token of all locks in this hash slot, kept so that the next one is larger.";
		}
		if (name.contains("queue")) {
			return "The owner tokens that wait, in the order in which they get the lock.";
		}
		if (name.contains("instance")) {
			return "Who an instance is: its application, host and process.";
		}
		return "The lock. Its value says whose it is, and Redis deletes it when the time to live is over.";
	}

}
