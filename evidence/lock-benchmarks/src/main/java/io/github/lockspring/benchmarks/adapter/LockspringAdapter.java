package io.github.lockspring.benchmarks.adapter;

import java.util.Map;
import java.util.function.Supplier;

import com.zaxxer.hikari.HikariDataSource;
import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.jdbc.JdbcLockStore;
import io.github.lockspring.store.LockStore;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/**
 * This project's locks in an application with the starter that sets nothing except where
 * the server is and that callers wait for longer.
 */
final class LockspringAdapter implements LockAdapter {

	static final String PREFIX = "lock:";

	/** As the starter's pool: the store's default of five, and one that listens. */
	private static final int JDBC_CONNECTIONS = 6;

	private final ConfigurableApplicationContext application;

	private final LockTemplate locks;

	private LockspringAdapter(ConfigurableApplicationContext application) {
		this.application = application;
		this.locks = application.getBean(LockTemplate.class);
	}

	static LockspringAdapter waiting(Servers servers) {
		return onRedis(servers, () -> LettuceFactories.create(servers), Map.of());
	}

	static LockspringAdapter notWaiting(Servers servers) {
		return onRedis(servers, () -> LettuceFactories.create(servers), Map.of("distributed-lock.async-release", true));
	}

	static LockspringAdapter withoutEvents(Servers servers) {
		return onRedis(servers, () -> LettuceFactories.create(servers), Map.of(StarterApplication.SILENT, true));
	}

	static LockspringAdapter overJedis(Servers servers) {
		return onRedis(servers,
				() -> new JedisConnectionFactory(new RedisStandaloneConfiguration(Servers.HOST, servers.redisPort())),
				Map.of());
	}

	private static LockspringAdapter onRedis(Servers servers, Supplier<RedisConnectionFactory> connections,
			Map<String, Object> properties) {
		return new LockspringAdapter(StarterApplication.on("redis", servers)
			.properties(properties)
			.initializers(StarterApplication.bean(RedisConnectionFactory.class, connections))
			.run());
	}

	static LockspringAdapter onJdbc(Servers servers) {
		HikariDataSource pool = JdbcPool.open(servers, JDBC_CONNECTIONS);
		return new LockspringAdapter(StarterApplication.on("jdbc", servers)
			.initializers(StarterApplication.bean(LockStore.class, () -> JdbcLockStore.builder(pool).build()),
					StarterApplication.bean(HikariDataSource.class, () -> pool))
			.run());
	}

	static LockspringAdapter onZooKeeper(Servers servers) {
		return new LockspringAdapter(StarterApplication.on("zookeeper", servers)
			.properties(Map.of("distributed-lock.zookeeper.connect-string", servers.zooKeeper()))
			.run());
	}

	static LockspringAdapter onEtcd(Servers servers) {
		return new LockspringAdapter(StarterApplication.on("etcd", servers)
			.properties(Map.of("distributed-lock.etcd.endpoints", servers.etcd()))
			.run());
	}

	@Override
	public void runLocked(String key, Runnable section) {
		this.locks.executeWithoutResult(LockRequest.of(key), (lock) -> section.run());
	}

	@Override
	public Hold hold(String key) {
		HeldLock lock = this.locks.acquire(LockRequest.of(key));
		return lock::close;
	}

	@Override
	public void close() {
		this.application.close();
	}

}
