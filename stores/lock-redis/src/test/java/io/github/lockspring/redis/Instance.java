package io.github.lockspring.redis;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.internal.base.StoreOptions;
import io.github.lockspring.internal.engine.EngineSettings;
import io.github.lockspring.internal.engine.LockEngine;
import io.lettuce.core.resource.ClientResources;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.context.Lifecycle;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.awaitility.Awaitility.await;

/**
 * One instance of an application: a driver with its own defaults, a store, an engine.
 */
public final class Instance implements AutoCloseable {

	/** As Spring Boot does, one for all factories; ends with the JVM. */
	private static final ClientResources SHARED = ClientResources.create();

	private final RedisConnectionFactory factory;

	private final RedisLockStore store;

	private final LockEngine engine;

	private final Queue<LockEvent> events = new ConcurrentLinkedQueue<>();

	private Instance(Driver driver, RedisConfiguration where, int replicaAcks, EngineSettings settings,
			Duration connectTimeout) {
		this.factory = (driver == Driver.LETTUCE) ? new LettuceConnectionFactory(where,
				LettuceClientConfiguration.builder().clientResources(SHARED).build()) : driver.factory(where);
		try {
			((InitializingBean) this.factory).afterPropertiesSet();
			((Lifecycle) this.factory).start();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
		this.store = RedisLockStore.builder(this.factory)
			.commandTimeout(settings.commandTimeout())
			.replicaAcks(replicaAcks)
			.connectTimeout(connectTimeout)
			.build();
		this.engine = new LockEngine(this.store, settings, this.events::add);
	}

	public static Instance on(int port) {
		return on(Driver.LETTUCE, port);
	}

	public static Instance on(Driver driver, int port) {
		return on(driver, port, 0);
	}

	/**
	 * One whose locks count when that many replicas have them, of which it waits half a
	 * second.
	 */
	public static Instance on(Driver driver, int port, int replicaAcks) {
		return on(driver, new RedisStandaloneConfiguration("127.0.0.1", port), replicaAcks);
	}

	public static Instance on(Driver driver, RedisConfiguration where, int replicaAcks) {
		return on(driver, where, replicaAcks, EngineSettings.defaults().commandTimeout(),
				StoreOptions.DEFAULT_CONNECT_TIMEOUT);
	}

	/**
	 * One that waits ten seconds for a reply, where timeouts are not the point: a server
	 * of a busy machine may not run for a second.
	 */
	public static Instance patient(Driver driver, int port) {
		return on(driver, new RedisStandaloneConfiguration("127.0.0.1", port), 0, Duration.ofSeconds(10),
				StoreOptions.DEFAULT_CONNECT_TIMEOUT);
	}

	/**
	 * One whose callers do not wait for their releases.
	 */
	public static Instance releasingAsync(Driver driver, RedisConfiguration where, Duration commandTimeout) {
		EngineSettings d = EngineSettings.defaults();
		return new Instance(driver, where, 0,
				new EngineSettings(d.ttl(), d.waitTime(), d.maxHold(), commandTimeout, Duration.ofSeconds(1), true),
				StoreOptions.DEFAULT_CONNECT_TIMEOUT);
	}

	/**
	 * One with other timeouts than an application's.
	 */
	public static Instance on(Driver driver, RedisConfiguration where, int replicaAcks, Duration commandTimeout,
			Duration connectTimeout) {
		EngineSettings d = EngineSettings.defaults();
		return new Instance(driver, where, replicaAcks,
				new EngineSettings(d.ttl(), d.waitTime(), d.maxHold(), commandTimeout, Duration.ofSeconds(1), false),
				connectTimeout);
	}

	public LockTemplate locks() {
		return this.engine.template();
	}

	RedisLockStore store() {
		return this.store;
	}

	public LockEngine engine() {
		return this.engine;
	}

	/**
	 * Opens the inbox, as the first wait does; a wait that begins half a second before it
	 * is confirmed would poll.
	 */
	public void openInbox() {
		LockRequest request = LockRequest.of("open the inbox " + System.nanoTime());
		try (HeldLock held = locks().acquire(request.waitTime(Duration.ofMinutes(1)))) {
			held.ensureHeld();
			locks().tryAcquire(request.waitTime(Duration.ofMillis(1))).ifPresent(HeldLock::close);
		}
	}

	/** Waits until messages arrive. */
	public void awaitInbox() {
		await().atMost(Duration.ofMinutes(1))
			.pollDelay(Duration.ZERO)
			.until(() -> this.engine.health().map(LockEngine.EngineHealth::inbox), Optional.of(true)::equals);
	}

	public Queue<LockEvent> events() {
		return this.events;
	}

	public <E extends LockEvent> List<E> events(Class<E> type) {
		return this.events.stream().filter(type::isInstance).map(type::cast).toList();
	}

	@Override
	public void close() {
		this.engine.close();
		this.store.close();
		try {
			((DisposableBean) this.factory).destroy();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

}
