package io.github.lockspring.redis;

import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisDataException;

import org.springframework.core.NestedExceptionUtils;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Dedicated connections of Jedis, kept by a pool of its own, which knows the master
 * behind Sentinel and gives no connection to another server.
 */
final class JedisDedicatedConnections implements DedicatedConnections {

	/*
	 * The driver's pool hears from the sentinels that the master was replaced, and then
	 * gives no connection to the former one any more.
	 */

	private final JedisSource source;

	private final int size;

	private final ReentrantLock lock = new ReentrantLock();

	private volatile @Nullable RedisConnectionFactory factory;

	private boolean closed;

	JedisDedicatedConnections(JedisSource source, int size) {
		this.source = source;
		this.size = size;
	}

	@Override
	public int size() {
		return this.size;
	}

	@Override
	public Taken take() {
		return new Taken(factory().getConnection(), true, "");
	}

	private RedisConnectionFactory factory() {
		RedisConnectionFactory factory = this.factory;
		if (factory != null) {
			return factory;
		}
		this.lock.lock();
		try {
			if (this.closed) {
				throw new IllegalStateException("The lock store is closed");
			}
			factory = this.factory;
			if (factory == null) {
				factory = this.source.openDedicated(this.size);
				this.factory = factory;
			}
			return factory;
		}
		finally {
			this.lock.unlock();
		}
	}

	@Override
	public void giveBack(Taken taken, boolean sound) {
		RedisConnection connection = taken.connection();
		if (!sound && connection.getNativeConnection() instanceof Jedis jedis) {
			jedis.getConnection().setBroken();
		}
		connection.close();
	}

	@Override
	public long waitForReplicas(Taken taken, int replicas, long millis) {
		return (Long) Objects.requireNonNull(taken.connection().execute("WAIT", digits(replicas), digits(millis)));
	}

	private static byte[] digits(long number) {
		return Long.toString(number).getBytes(StandardCharsets.US_ASCII);
	}

	@Override
	public boolean isStale(Taken taken, RuntimeException failure) {
		return this.source.isStale(failure);
	}

	@Override
	public boolean isAnswered(RuntimeException failure) {
		return NestedExceptionUtils.getMostSpecificCause(failure) instanceof JedisDataException;
	}

	@Override
	public void close() {
		this.lock.lock();
		try {
			this.closed = true;
			RedisConnectionFactory factory = this.factory;
			if (factory != null) {
				this.source.close(factory);
			}
		}
		finally {
			this.lock.unlock();
		}
	}

}
