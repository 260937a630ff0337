package io.github.lockspring.benchmarks.adapter;

import java.time.Duration;
import java.util.List;

import com.baomidou.lock.LockInfo;
import com.baomidou.lock.LockTemplate;
import com.baomidou.lock.executor.RedisTemplateLockExecutor;
import com.baomidou.lock.spring.boot.autoconfigure.Lock4jProperties;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * lock4j's template with its executor on {@code RedisTemplate} and its defaults, except
 * that callers wait for longer. Nothing is renewed: its renewal starts a thread for each
 * acquisition.
 */
final class Lock4jAdapter implements LockAdapter {

	private static final Duration WAIT_TIME = Duration.ofMinutes(1);

	private final LettuceConnectionFactory factory;

	private final LockTemplate locks = new LockTemplate();

	private final long ttlMillis;

	Lock4jAdapter(Servers servers) {
		this.factory = LettuceFactories.started(servers);
		this.ttlMillis = servers.ttl().toMillis();
		Lock4jProperties properties = new Lock4jProperties();
		this.locks.setProperties(properties);
		this.locks
			.setExecutors(List.of(new RedisTemplateLockExecutor(new StringRedisTemplate(this.factory), properties)));
		try {
			this.locks.afterPropertiesSet();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public void runLocked(String key, Runnable section) {
		LockInfo lock = this.locks.lock("lock4j:" + key, this.ttlMillis, WAIT_TIME.toMillis());
		if (lock == null) {
			throw new IllegalStateException("Lock '" + key + "' was busy for " + WAIT_TIME);
		}
		try {
			section.run();
		}
		finally {
			if (!this.locks.releaseLock(lock)) {
				throw new IllegalStateException("Lock '" + key + "' was lost");
			}
		}
	}

	@Override
	public void close() {
		this.factory.destroy();
	}

}
