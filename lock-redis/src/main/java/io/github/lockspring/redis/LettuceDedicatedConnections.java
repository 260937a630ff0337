package io.github.lockspring.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.IntegerOutput;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.data.redis.RedisSystemException;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration.LettuceClientConfigurationBuilder;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration.LettuceSslClientConfigurationBuilder;
import org.springframework.data.redis.connection.lettuce.LettuceConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Dedicated connections of Lettuce, kept here while idle.
 */
final class LettuceDedicatedConnections implements DedicatedConnections {

	/*
	 * The stack's top is what was used last, so that whatever is not needed sinks, and is
	 * closed when it has not been used for a while. Each connection is in the stack or
	 * has one user. Behind Sentinel each new one asks for the master.
	 *
	 * A master that is being replaced does not know it for a second or so, and goes on
	 * answering. What its successor gave it would say is nobody's. So as soon as a new
	 * connection ends at another server than those before it, these are not used again.
	 * Of those that are made at the same time, the one that was begun last decides.
	 */

	private static final Logger logger = LoggerFactory.getLogger(LettuceDedicatedConnections.class);

	private static final long IDLE_CONNECTION_STAYS = Duration.ofMinutes(1).toNanos();

	/**
	 * A stopped server accepts connections and answers nothing: whoever waits for that is
	 * not there for anybody else.
	 */
	private static final Duration LEAST_PATIENCE_WHEN_CONNECTING = Duration.ofSeconds(1);

	/** Name of a server that does not tell its run id. */
	private static final String UNKNOWN = "";

	private record Idle(RedisConnection connection, String server, long since) {
	}

	/**
	 * Where a connection ended.
	 *
	 * @param number larger than those of all that were begun before
	 */
	private record End(long number, String server) {
	}

	private final int size;

	private final LettuceConnectionFactory factory;

	private final ConcurrentLinkedDeque<Idle> idle = new ConcurrentLinkedDeque<>();

	private final ReentrantLock startLock = new ReentrantLock();

	private final AtomicLong begun = new AtomicLong();

	private final AtomicReference<End> newest = new AtomicReference<>(new End(0, UNKNOWN));

	private final AtomicBoolean told = new AtomicBoolean();

	private volatile boolean closed;

	LettuceDedicatedConnections(RedisConfiguration where, DerivedLettuceConfiguration derived, int size) {
		this.size = size;
		this.factory = new LettuceConnectionFactory(where, configuration(derived));
		this.factory.setShareNativeConnection(false);
		this.factory.setEarlyStartup(false);
		this.factory.setValidateConnection(false);
		this.factory.afterPropertiesSet();
	}

	private static LettuceClientConfiguration configuration(DerivedLettuceConfiguration derived) {
		Duration timeout = derived.callTimeout();
		ClientOptions options = derived.getClientOptions().orElseGet(ClientOptions::create);
		LettuceClientConfigurationBuilder builder = LettuceClientConfiguration.builder()
			.clientOptions(options.mutate().autoReconnect(false).build())
			.commandTimeout(
					(timeout.compareTo(LEAST_PATIENCE_WHEN_CONNECTING) > 0) ? timeout : LEAST_PATIENCE_WHEN_CONNECTING)
			.shutdownTimeout(derived.getShutdownTimeout())
			.shutdownQuietPeriod(derived.getShutdownQuietPeriod());
		derived.getClientResources().ifPresent(builder::clientResources);
		derived.getClientName().ifPresent(builder::clientName);
		derived.getRedisCredentialsProviderFactory().ifPresent(builder::redisCredentialsProviderFactory);
		if (derived.isUseSsl()) {
			LettuceSslClientConfigurationBuilder ssl = builder.useSsl().verifyPeer(derived.getVerifyMode());
			if (derived.isStartTls()) {
				ssl.startTls();
			}
		}
		return builder.build();
	}

	@Override
	public int size() {
		return this.size;
	}

	@Override
	public Taken take() {
		for (Idle used = this.idle.pollFirst(); used != null; used = this.idle.pollFirst()) {
			if (isNewest(used.server())) {
				return new Taken(used.connection(), true, used.server());
			}
			used.connection().close();
		}
		start();
		while (true) {
			Taken made = connectTwiceAtMost();
			if (isNewest(made.server())) {
				return made;
			}
			made.connection().close();
		}
	}

	private boolean isNewest(String server) {
		return this.newest.get().server().equals(server);
	}

	private Taken connectTwiceAtMost() {
		try {
			return connect();
		}
		catch (RuntimeException ex) {
			if (!LettuceFailures.isWorthAnotherTry(ex)) {
				throw ex;
			}
			return connect();
		}
	}

	private Taken connect() {
		long number = this.begun.incrementAndGet();
		RedisConnection connection = this.factory.getConnection();
		try {
			// which connects: nothing is to be sent after the caller has gone
			End end = new End(number, runId(connection));
			this.newest.accumulateAndGet(end, (one, other) -> (one.number() > other.number()) ? one : other);
			return new Taken(connection, false, end.server());
		}
		catch (RuntimeException ex) {
			connection.close();
			throw ex;
		}
	}

	private String runId(RedisConnection connection) {
		try {
			Properties info = connection.serverCommands().info("server");
			return (info != null) ? info.getProperty("run_id", UNKNOWN) : UNKNOWN;
		}
		catch (RedisSystemException ex) {
			if (isAnswered(ex)) {
				if (this.told.compareAndSet(false, true)) {
					logger.info("INFO is refused, so that a release in the moment of a failover may go to the "
							+ "former master, and the lock ends by itself: {}", ex.getMessage());
				}
				return UNKNOWN;
			}
			throw ex;
		}
	}

	private void start() {
		if (this.factory.isRunning() && !this.closed) {
			return;
		}
		this.startLock.lock();
		try {
			if (this.closed) {
				throw new IllegalStateException("The lock store is closed");
			}
			this.factory.start();
		}
		finally {
			this.startLock.unlock();
		}
	}

	@Override
	public void giveBack(Taken taken, boolean sound) {
		long now = System.nanoTime();
		if (sound && !isNewest(taken.server())) {
			taken.connection().close();
		}
		else if (sound) {
			this.idle.addFirst(new Idle(taken.connection(), taken.server(), now));
		}
		else {
			// the others are at the same server
			taken.connection().close();
			closeIdle();
		}
		Idle oldest = this.idle.peekLast();
		if (oldest != null && (now - oldest.since() > IDLE_CONNECTION_STAYS || this.closed)
				&& this.idle.removeLastOccurrence(oldest)) {
			oldest.connection().close();
		}
	}

	private void closeIdle() {
		for (Idle left = this.idle.poll(); left != null; left = this.idle.poll()) {
			left.connection().close();
		}
	}

	@Override
	public long waitForReplicas(Taken taken, int replicas, long millis) {
		LettuceConnection connection = (LettuceConnection) taken.connection();
		return (Long) Objects.requireNonNull(connection.execute("WAIT", new IntegerOutput<>(ByteArrayCodec.INSTANCE),
				digits(replicas), digits(millis)));
	}

	private static byte[] digits(long number) {
		return Long.toString(number).getBytes(StandardCharsets.US_ASCII);
	}

	@Override
	public boolean isStale(Taken taken, RuntimeException failure) {
		return taken.used() && (LettuceFailures.isDisconnection(failure) || PassingTrouble.isReadOnly(failure));
	}

	@Override
	public boolean isAnswered(RuntimeException failure) {
		return LettuceFailures.isAnswer(failure);
	}

	@Override
	public void close() {
		this.startLock.lock();
		try {
			this.closed = true;
		}
		finally {
			this.startLock.unlock();
		}
		closeIdle();
		this.factory.destroy();
	}

}
