package io.github.lockspring.redis;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.ReadFrom;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.SslVerifyMode;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.Delay;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.RedisCredentialsProviderFactory;

/**
 * The application's Lettuce configuration with what locks need: short timeouts, quick
 * reconnection, no commands kept for later, the master only, and no pool.
 */
final class DerivedLettuceConfiguration implements LettuceClientConfiguration {

	private static final Duration LONGEST_RECONNECT_DELAY = Duration.ofMillis(500);

	private static final Duration LONGEST_TOPOLOGY_PAUSE = Duration.ofSeconds(1);

	/**
	 * Nobody waits for a connection longer than for an answer, but an attempt may take
	 * longer and serve the next caller: in a cold JVM on a busy machine it takes seconds.
	 */
	private static final Duration PATIENCE_WHEN_CONNECTING = Duration.ofSeconds(5);

	/**
	 * Where masters are replaced, one that stands still accepts connections: whoever
	 * waits for it does not ask for the new one, and the topology of a cluster is known
	 * only when each node has answered or had its time.
	 */
	private static final Duration PATIENCE_WITH_ONE_OF_MANY = Duration.ofSeconds(2);

	private final LettuceClientConfiguration application;

	private final RedisConfiguration redisConfiguration;

	private final Duration commandTimeout;

	private final ClientResources resources;

	private final @Nullable ClientResources ownResources;

	DerivedLettuceConfiguration(LettuceClientConfiguration application, RedisConfiguration redisConfiguration,
			Duration commandTimeout) {
		this.application = application;
		this.redisConfiguration = redisConfiguration;
		this.commandTimeout = commandTimeout;
		ClientResources shared = application.getClientResources().orElse(null);
		if (shared != null) {
			this.resources = new QuicklyReconnectingResources(shared, reconnectDelay());
			this.ownResources = null;
		}
		else {
			this.resources = DefaultClientResources.builder()
				.ioThreadPoolSize(2)
				.computationThreadPoolSize(2)
				.reconnectDelay(reconnectDelay())
				.build();
			this.ownResources = this.resources;
		}
	}

	static Delay reconnectDelay() {
		return Delay.exponential(Duration.ZERO, LONGEST_RECONNECT_DELAY, 2, TimeUnit.MILLISECONDS);
	}

	RedisConfiguration redisConfiguration() {
		return this.redisConfiguration;
	}

	/**
	 * The resources to shut down at the end, null if they are the application's.
	 */
	@Nullable ClientResources ownResources() {
		return this.ownResources;
	}

	@Override
	public Optional<ClientResources> getClientResources() {
		return Optional.of(this.resources);
	}

	@Override
	public Optional<ClientOptions> getClientOptions() {
		ClientOptions options = this.application.getClientOptions().orElseGet(ClientOptions::create);
		SocketOptions socket = options.getSocketOptions();
		Duration connectTimeout = shorter(socket.getConnectTimeout(), getCommandTimeout());
		ClientOptions ours = options.mutate()
			.autoReconnect(true)
			.suspendReconnectOnProtocolFailure(false)
			.disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
			.socketOptions(socket.mutate().connectTimeout(connectTimeout).build())
			// whoever asks waits no longer than he wants to: a timer for each command is
			// one too many
			.timeoutOptions(TimeoutOptions.create())
			.build();
		return Optional
			.of(RedisConfiguration.isClusterConfiguration(this.redisConfiguration) ? forCluster(ours) : ours);
	}

	/*
	 * A client that does not look for a new master as soon as something speaks against
	 * the old one keeps asking it. What the application has set is kept where it looks
	 * more often than this.
	 */
	private static ClusterClientOptions forCluster(ClientOptions options) {
		ClusterClientOptions present = (options instanceof ClusterClientOptions cluster) ? cluster
				: ClusterClientOptions.builder(options).build();
		ClusterTopologyRefreshOptions refresh = present.getTopologyRefreshOptions();
		ClusterTopologyRefreshOptions.Builder ours = ClusterTopologyRefreshOptions.builder()
			.adaptiveRefreshTriggersTimeout(shorter(refresh.getAdaptiveRefreshTimeout(), LONGEST_TOPOLOGY_PAUSE))
			.refreshTriggersReconnectAttempts(Math.min(refresh.getRefreshTriggersReconnectAttempts(),
					ClusterTopologyRefreshOptions.DEFAULT_REFRESH_TRIGGERS_RECONNECT_ATTEMPTS))
			.dynamicRefreshSources(refresh.useDynamicRefreshSources())
			.closeStaleConnections(refresh.isCloseStaleConnections());
		if (refresh.isPeriodicRefreshEnabled()) {
			ours.enablePeriodicRefresh(refresh.getRefreshPeriod());
		}
		return present.mutate().topologyRefreshOptions(ours.build()).build();
	}

	private static Duration shorter(Duration one, Duration other) {
		return (one.compareTo(other) < 0) ? one : other;
	}

	/**
	 * How long a caller waits for an answer unless it says something else.
	 */
	Duration callTimeout() {
		return this.commandTimeout;
	}

	/**
	 * What is left to this is the handshake: callers say how long they wait.
	 */
	@Override
	public Duration getCommandTimeout() {
		boolean oneOfMany = RedisConfiguration.isSentinelConfiguration(this.redisConfiguration)
				|| RedisConfiguration.isClusterConfiguration(this.redisConfiguration);
		Duration patience = oneOfMany ? PATIENCE_WITH_ONE_OF_MANY : PATIENCE_WHEN_CONNECTING;
		return (this.commandTimeout.compareTo(patience) > 0) ? this.commandTimeout : patience;
	}

	@Override
	public Optional<ReadFrom> getReadFrom() {
		return this.application.getReadFrom().map((readFrom) -> ReadFrom.MASTER);
	}

	@Override
	public Duration getShutdownTimeout() {
		return this.commandTimeout;
	}

	@Override
	public Duration getShutdownQuietPeriod() {
		return Duration.ZERO;
	}

	@Override
	public boolean isUseSsl() {
		return this.application.isUseSsl();
	}

	@Override
	@Deprecated
	@SuppressWarnings("deprecation")
	public boolean isVerifyPeer() {
		return this.application.isVerifyPeer();
	}

	@Override
	public SslVerifyMode getVerifyMode() {
		return this.application.getVerifyMode();
	}

	@Override
	public boolean isStartTls() {
		return this.application.isStartTls();
	}

	@Override
	public Optional<String> getClientName() {
		return this.application.getClientName();
	}

	@Override
	public Optional<RedisCredentialsProviderFactory> getRedisCredentialsProviderFactory() {
		return this.application.getRedisCredentialsProviderFactory();
	}

}
