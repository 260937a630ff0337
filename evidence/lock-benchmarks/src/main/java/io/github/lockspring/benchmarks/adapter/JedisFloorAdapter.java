package io.github.lockspring.benchmarks.adapter;

import java.util.List;
import java.util.UUID;

import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.params.SetParams;

/**
 * The bare pair of {@link FloorAdapter} over Jedis, whose callers read and write their
 * sockets themselves.
 */
final class JedisFloorAdapter implements LockAdapter {

	private static final int CONNECTIONS = 64;

	private final RedisClient jedis;

	private final String release;

	private final SetParams taken;

	JedisFloorAdapter(Servers servers) {
		ConnectionPoolConfig pool = new ConnectionPoolConfig();
		pool.setMaxTotal(CONNECTIONS);
		pool.setMaxIdle(CONNECTIONS);
		pool.setJmxEnabled(false);
		this.jedis = RedisClient.builder().hostAndPort(Servers.HOST, servers.redisPort()).poolConfig(pool).build();
		this.release = this.jedis.scriptLoad(FloorAdapter.RELEASE);
		this.taken = SetParams.setParams().nx().px(servers.ttl().toMillis());
	}

	@Override
	public void runLocked(String key, Runnable section) {
		String name = "floor-jedis:" + key;
		String owner = UUID.randomUUID().toString();
		if (this.jedis.set(name, owner, this.taken) == null) {
			throw new IllegalStateException("Lock '" + key + "' is busy: the floor cannot wait");
		}
		try {
			section.run();
		}
		finally {
			Object released = this.jedis.evalsha(this.release, List.of(name), List.of(owner));
			if (!Long.valueOf(1).equals(released)) {
				throw new IllegalStateException("Lock '" + key + "' was lost");
			}
		}
	}

	@Override
	public void close() {
		this.jedis.close();
	}

}
