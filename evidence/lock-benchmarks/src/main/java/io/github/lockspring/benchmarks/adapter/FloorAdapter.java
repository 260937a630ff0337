package io.github.lockspring.benchmarks.adapter;

import java.util.UUID;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;

/**
 * The bare pair: {@code SET NX PX}, and a script that compares the owner and deletes, on
 * one connection that all threads share. Everything that a lock costs more is a library's
 * own.
 */
final class FloorAdapter implements LockAdapter {

	static final String RELEASE = """
			if redis.call('GET', KEYS[1]) == ARGV[1] then
				return redis.call('DEL', KEYS[1])
			end
			return 0
			""";

	private final RedisClient client;

	private final StatefulRedisConnection<String, String> connection;

	private final RedisCommands<String, String> commands;

	private final String release;

	private final long ttlMillis;

	FloorAdapter(Servers servers) {
		this.client = RedisClient.create(RedisURI.create(Servers.HOST, servers.redisPort()));
		this.connection = this.client.connect();
		this.commands = this.connection.sync();
		this.release = this.commands.scriptLoad(RELEASE);
		this.ttlMillis = servers.ttl().toMillis();
	}

	@Override
	public void runLocked(String key, Runnable section) {
		String name = "floor:" + key;
		String owner = UUID.randomUUID().toString();
		if (this.commands.set(name, owner, SetArgs.Builder.nx().px(this.ttlMillis)) == null) {
			throw new IllegalStateException("Lock '" + key + "' is busy: the floor cannot wait");
		}
		try {
			section.run();
		}
		finally {
			Long released = this.commands.evalsha(this.release, ScriptOutputType.INTEGER, new String[] { name }, owner);
			if (released == null || released != 1) {
				throw new IllegalStateException("Lock '" + key + "' was lost");
			}
		}
	}

	@Override
	public void close() {
		this.connection.close();
		this.client.shutdown();
	}

}
