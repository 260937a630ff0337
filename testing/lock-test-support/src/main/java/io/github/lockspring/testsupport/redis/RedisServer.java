package io.github.lockspring.testsupport.redis;

import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * A real redis-server without persistence, 7.0.15 unless another version is asked for.
 *
 * @since 0.1
 */
public final class RedisServer extends RedisProcess {

	private static final Map<RedisVersion, RedisServer> shared = new EnumMap<>(RedisVersion.class);

	private final List<String> config;

	private RedisServer(RedisVersion version, List<String> config) {
		super(version, freePort(),
				config.contains("--requirepass") ? config.get(config.indexOf("--requirepass") + 1) : null);
		this.config = config;
	}

	/**
	 * Starts a server on a free port.
	 * @param config further arguments, such as {@code "--maxmemory", "3mb"}
	 */
	public static RedisServer start(String... config) {
		return start(RedisVersion.DEFAULT, config);
	}

	/**
	 * Starts a server of the given version on a free port.
	 * @param version a version that runs on this machine
	 * @param config further arguments
	 */
	public static RedisServer start(RedisVersion version, String... config) {
		for (int attempt = 1;; attempt++) {
			RedisServer server = new RedisServer(version, List.of(config));
			try {
				server.restart();
				return server;
			}
			catch (UncheckedIOException ex) {
				server.close();
				// another process may have got the port first
				if (attempt == 3) {
					throw ex;
				}
			}
		}
	}

	/**
	 * Returns the server that is shared by tests that leave it as they found it: running,
	 * and with the same configuration. It may contain keys of other tests.
	 */
	public static RedisServer shared() {
		return shared(RedisVersion.DEFAULT);
	}

	/** Returns the shared server of the given version. */
	public static synchronized RedisServer shared(RedisVersion version) {
		return shared.computeIfAbsent(version, RedisServer::start);
	}

	@Override
	List<String> arguments() {
		return Stream
			.concat(Stream.of("--port", String.valueOf(port()), "--bind", host(), "--save", "", "--appendonly", "no",
					"--daemonize", "no", "--dir", directory().toString()), this.config.stream())
			.toList();
	}

	/** Returns the version that the server says it has. */
	public String version() {
		return text("INFO", "server").lines()
			.filter((line) -> line.startsWith("redis_version:"))
			.map((line) -> line.substring(line.indexOf(':') + 1))
			.findFirst()
			.orElse("unknown");
	}

	/** Deletes all keys. */
	public void flushAll() {
		command("FLUSHALL");
	}

	/** Returns the value of a key, or null. */
	public @Nullable String get(String key) {
		return (String) command("GET", key);
	}

	/** Returns the milliseconds left, -1 without a TTL, -2 if there is no such key. */
	public long pttl(String key) {
		return number(command("PTTL", key));
	}

	/** Returns whether the key exists. */
	public boolean exists(String key) {
		return number(command("EXISTS", key)) == 1;
	}

	/**
	 * Fills a server whose policy is {@code volatile-ttl} until it evicts a key that has
	 * less than a day to live.
	 */
	public void evict(String key) {
		String filler = "x".repeat(20_000);
		for (int i = 0; exists(key); i++) {
			if (i == 1000) {
				throw new AssertionError("'" + key + "' is not evicted");
			}
			command("SET", "filler:" + i, filler, "EX", "86400");
		}
	}

	/** Returns all keys. */
	public List<String> keys() {
		List<String> keys = new ArrayList<>();
		((List<?>) Objects.requireNonNull(command("KEYS", "*"))).forEach((key) -> keys.add((String) key));
		return keys;
	}

	/**
	 * Returns how often a command was called since the start or the last
	 * {@code CONFIG RESETSTAT}, also by scripts.
	 * @param command its name, such as {@code evalsha} or {@code set}
	 */
	public long calls(String command) {
		return calls(Pattern.compile("cmdstat_(" + Pattern.quote(command) + "):calls=(\\d+),"));
	}

	/** Returns how often all commands were called, except for INFO and CONFIG. */
	public long calls() {
		return calls(Pattern.compile("cmdstat_(?!info:|config)([^:]+):calls=(\\d+),"));
	}

	private long calls(Pattern pattern) {
		Matcher matcher = pattern.matcher(text("INFO", "commandstats"));
		return matcher.results().mapToLong((result) -> Long.parseLong(result.group(2))).sum();
	}

	private static long number(@Nullable Object answer) {
		return (Long) Objects.requireNonNull(answer);
	}

}
