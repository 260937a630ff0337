package io.github.lockspring.redis.internal.client;

import java.util.Objects;

import redis.clients.jedis.Jedis;

import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Dedicated connections of Jedis, in a pool of the driver.
 */
final class JedisDedicatedConnections implements DedicatedConnections {

	/*
	 * The sentinels notify the driver's pool when the master is replaced. It then hands
	 * out no connection to the former one any more.
	 */

	private final JedisSource source;

	private final int size;

	private final LazyReference<RedisConnectionFactory> factory;

	JedisDedicatedConnections(JedisSource source, int size) {
		this.source = source;
		this.size = size;
		this.factory = new LazyReference<>(() -> source.openDedicated(size));
	}

	@Override
	public int size() {
		return this.size;
	}

	@Override
	public PooledConnection borrow() {
		return new PooledConnection(this.factory.get().getConnection(), true, "");
	}

	@Override
	public void returnToPool(PooledConnection connection) {
		connection.connection().close();
	}

	@Override
	public void invalidate(PooledConnection connection) {
		if (connection.connection().getNativeConnection() instanceof Jedis jedis) {
			jedis.getConnection().setBroken();
		}
		connection.connection().close();
	}

	@Override
	public long waitForReplicas(PooledConnection connection, int replicas, long millis) {
		return (Long) Objects.requireNonNull(connection.connection()
			.execute("WAIT", DedicatedConnections.digits(replicas), DedicatedConnections.digits(millis)));
	}

	@Override
	public boolean isStale(PooledConnection connection, RuntimeException failure) {
		return this.source.isStale(failure);
	}

	@Override
	public boolean isErrorReply(RuntimeException failure) {
		return JedisSource.isErrorReply(failure);
	}

	@Override
	public void close() {
		this.factory.close(this.source::close);
	}

}
