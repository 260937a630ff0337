package io.github.lockspring.redis.client;

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

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.RedisCredentialsProviderFactory;

/**
 * The application's Lettuce configuration, changed to what locks need: short timeouts,
 * fast reconnection, commands rejected while disconnected, the master only, no pool.
 */
final class DerivedLettuceConfiguration implements LettuceClientConfiguration {

	private static final Duration MAX_RECONNECT_DELAY = Duration.ofMillis(500);

	private static final Duration MAX_TOPOLOGY_REFRESH_PAUSE = Duration.ofSeconds(1);

	/**
	 * Callers wait for a connection no longer than for a reply, but an attempt may
	 * continue and serve the next caller: in a cold JVM on a busy machine it takes
	 * seconds.
	 */
	private static final Duration MIN_HANDSHAKE_TIMEOUT = Duration.ofSeconds(5);

	/**
	 * With Sentinel and Cluster. A paused master accepts connections, and while a client
	 * waits for it, it does not look for the new one; the topology of a cluster is known
	 * only when each node has replied or timed out.
	 */
	private static final Duration MIN_FAILOVER_HANDSHAKE_TIMEOUT = Duration.ofSeconds(2);

	private final LettuceClientConfiguration application;

	private final RedisConfiguration redisConfiguration;

	private final Duration commandTimeout;

	private final ClientResources resources;

	DerivedLettuceConfiguration(LettuceClientConfiguration application, RedisConfiguration redisConfiguration,
			Duration commandTimeout) {
		this.application = application;
		this.redisConfiguration = redisConfiguration;
		this.commandTimeout = commandTimeout;
		this.resources = application.getClientResources()
			.<ClientResources>map((shared) -> new ReconnectDelayClientResources(shared, reconnectDelay()))
			.orElseGet(() -> DefaultClientResources.builder()
				.ioThreadPoolSize(2)
				.computationThreadPoolSize(2)
				.reconnectDelay(reconnectDelay())
				.build());
	}

	static Delay reconnectDelay() {
		return Delay.exponential(Duration.ZERO, MAX_RECONNECT_DELAY, 2, TimeUnit.MILLISECONDS);
	}

	RedisConfiguration redisConfiguration() {
		return this.redisConfiguration;
	}

	/**
	 * Shuts the client resources down unless they are the application's.
	 */
	void shutdownResources() {
		this.resources.shutdown(0, this.commandTimeout.toMillis(), TimeUnit.MILLISECONDS);
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
			// callers have a timeout of their own, so commands need no timer
			.timeoutOptions(TimeoutOptions.create())
			.build();
		return Optional
			.of(RedisConfiguration.isClusterConfiguration(this.redisConfiguration) ? forCluster(ours) : ours);
	}

	/*
	 * A client that does not look for a new master at the first sign of a failure keeps
	 * using the old one. The application's settings are kept where they refresh the
	 * topology more often.
	 */
	private static ClusterClientOptions forCluster(ClientOptions options) {
		ClusterClientOptions present = (options instanceof ClusterClientOptions cluster) ? cluster
				: ClusterClientOptions.builder(options).build();
		ClusterTopologyRefreshOptions refresh = present.getTopologyRefreshOptions();
		ClusterTopologyRefreshOptions.Builder ours = ClusterTopologyRefreshOptions.builder()
			.adaptiveRefreshTriggersTimeout(shorter(refresh.getAdaptiveRefreshTimeout(), MAX_TOPOLOGY_REFRESH_PAUSE))
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
	 * Returns how long callers wait for a reply unless they say otherwise.
	 */
	Duration callTimeout() {
		return this.commandTimeout;
	}

	/**
	 * Returns the timeout of the handshake. For commands, callers have their own.
	 */
	@Override
	public Duration getCommandTimeout() {
		boolean failover = RedisConfiguration.isSentinelConfiguration(this.redisConfiguration)
				|| RedisConfiguration.isClusterConfiguration(this.redisConfiguration);
		Duration timeout = failover ? MIN_FAILOVER_HANDSHAKE_TIMEOUT : MIN_HANDSHAKE_TIMEOUT;
		return (this.commandTimeout.compareTo(timeout) > 0) ? this.commandTimeout : timeout;
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
