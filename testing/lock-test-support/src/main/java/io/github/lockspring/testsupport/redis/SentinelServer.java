package io.github.lockspring.testsupport.redis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A sentinel: the binary of the server with a configuration file that it writes to.
 *
 * @since 0.1
 */
public final class SentinelServer extends RedisProcess {

	private final boolean fast;

	private SentinelServer(int port, @Nullable String password, boolean fast, List<String> config) {
		super(RedisVersion.DEFAULT, port, password);
		this.fast = fast;
		List<String> lines = new ArrayList<>(List.of("port " + port, "bind " + host(), "dir " + directory()));
		lines.addAll(config);
		if (password != null) {
			lines.add("requirepass " + password);
		}
		try {
			Files.write(directory().resolve("sentinel.conf"), lines);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		restart();
	}

	/** Starts a single sentinel with the default settings of Redis. */
	public static SentinelServer watching(RedisServer master) {
		return new SentinelServer(freePort(), null, false,
				List.of("sentinel monitor " + SentinelGroup.NAME + " 127.0.0.1 " + master.port() + " 1"));
	}

	/** Starts one of several sentinels, which react faster than by default. */
	static SentinelServer member(int number, List<Integer> ports, int master, @Nullable String masterPassword,
			@Nullable String password) {
		String name = SentinelGroup.NAME;
		// the third one votes, but does not stand for election at once: three candidates
		// who vote for themselves would try again only after four seconds
		List<String> config = new ArrayList<>(
				List.of("sentinel myid " + id(number), "sentinel monitor " + name + " 127.0.0.1 " + master + " 2",
						"sentinel down-after-milliseconds " + name + " " + ((number < 2) ? 500 : 2500),
						"sentinel failover-timeout " + name + " 2000", "sentinel parallel-syncs " + name + " 2"));
		if (masterPassword != null) {
			config.add("sentinel auth-pass " + name + " " + masterPassword);
		}
		// otherwise they would look for each other for some seconds
		for (int other = 0; other < ports.size(); other++) {
			if (other != number) {
				config.add("sentinel known-sentinel " + name + " 127.0.0.1 " + ports.get(other) + " " + id(other));
			}
		}
		return new SentinelServer(ports.get(number), password, true, config);
	}

	private static String id(int number) {
		return "%040x".formatted(0xabc0 + number);
	}

	@Override
	List<String> arguments() {
		return List.of(directory().resolve("sentinel.conf").toString(), "--sentinel");
	}

	/** Kills the sentinel if it runs, and starts it again with what it knew. */
	@Override
	public synchronized void restart() {
		super.restart();
		if (this.fast) {
			// a former master is made a replica after four times the publish period; a
			// promoted server loses its connections, which are opened again once in a
			// ping period, and must not seem to be down until then; a sentinel that was
			// not scheduled for two seconds would do nothing for half a minute
			command("SENTINEL", "DEBUG", "publish-period", "500", "info-period", "500", "ping-period", "100",
					"ask-period", "200", "tilt-trigger", "30000", "tilt-period", "1000");
		}
	}

}
