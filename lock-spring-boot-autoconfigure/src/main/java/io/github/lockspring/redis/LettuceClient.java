package io.github.lockspring.redis;

import io.lettuce.core.cluster.RedisClusterClient;

import org.springframework.core.NestedExceptionUtils;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * A client of Lettuce that is connected, with its connection, or one for each node.
 * Thread-safe.
 */
final class LettuceClient implements AutoCloseable {

	private final TimedLettuceConnectionFactory factory;

	private final StringRedisTemplate template;

	private LettuceClient(TimedLettuceConnectionFactory factory) {
		this.factory = factory;
		this.template = RedisConnections.template(factory);
	}

	/**
	 * Connects, which may take long.
	 * @param factory not started, and from now on the client's own
	 */
	static LettuceClient connect(TimedLettuceConnectionFactory factory) {
		try {
			factory.start();
			try {
				factory.getConnection().close();
			}
			catch (RuntimeException ex) {
				if (!endedWithoutReason(ex)) {
					throw ex;
				}
				factory.getConnection().close();
			}
			return new LettuceClient(factory);
		}
		catch (RuntimeException | Error ex) {
			factory.destroy();
			throw ex;
		}
	}

	// what the server says to a wrong password is now and then overtaken by the end of
	// the connection
	private static boolean endedWithoutReason(RuntimeException failure) {
		return "Connection closed prematurely".equals(NestedExceptionUtils.getMostSpecificCause(failure).getMessage());
	}

	StringRedisTemplate template() {
		return this.template;
	}

	/**
	 * Lets the client of a cluster ask all nodes who has which slot, which may take long.
	 */
	void refreshNodes() {
		((RedisClusterClient) this.factory.getRequiredNativeClient()).refreshPartitions();
	}

	@Override
	public void close() {
		this.factory.destroy();
	}

}
