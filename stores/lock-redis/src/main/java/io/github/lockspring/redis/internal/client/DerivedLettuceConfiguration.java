package io.github.lockspring.redis.internal.client;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.redis.internal.client.RedisConnections.Topology;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.ReadFrom;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.event.DefaultEventPublisherOptions;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.Delay;
import io.lettuce.core.resource.NettyCustomizer;
import io.lettuce.core.tracing.Tracing;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.handler.flush.FlushConsolidationHandler;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration.WithAuthentication;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration.LettuceClientConfigurationBuilder;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration.LettuceSslClientConfigurationBuilder;
import org.springframework.util.StringUtils;

/**
 * The application's Lettuce configuration, changed to what locks need: short timeouts,
 * fast reconnection, commands rejected while disconnected, the master only, no pool.
 *
 * @param commandTimeout how long callers wait for a reply unless they have a timeout of
 * their own
 */
record DerivedLettuceConfiguration(LettuceClientConfiguration application, RedisConfiguration redisConfiguration,
		Duration commandTimeout, Duration connectTimeout, ClientResources resources) {

	private static final Duration MAX_RECONNECT_DELAY = Duration.ofMillis(500);

	private static final Duration TOPOLOGY_REFRESH_PAUSE = Duration.ofSeconds(1);

	/**
	 * With Sentinel and Cluster. A paused master accepts connections, and while a client
	 * waits for it, it does not look for the new one; the topology of a cluster is known
	 * only when each node has replied or timed out.
	 */
	private static final Duration MIN_FAILOVER_HANDSHAKE_TIMEOUT = Duration.ofSeconds(2);

	/**
	 * Not longer: a paused server accepts connections and never replies, which occupies
	 * the worker that connects.
	 */
	private static final Duration MIN_DEDICATED_HANDSHAKE_TIMEOUT = Duration.ofSeconds(1);

	/** At most; with 3 more system calls are made, with 256 the server waits. */
	private static final int COMMANDS_PER_FLUSH = 8;

	/** Commands without a reply, of one connection; the driver refuses further ones. */
	private static final int MAX_PENDING = 50_000;

	DerivedLettuceConfiguration(LettuceClientConfiguration application, RedisConfiguration redisConfiguration,
			Duration commandTimeout, Duration connectTimeout) {
		this(application, redisConfiguration, commandTimeout, connectTimeout,
				resources(application.getClientResources()));
	}

	private static ClientResources resources(Optional<ClientResources> application) {
		return application.map(DerivedLettuceConfiguration::sharing)
			.orElseGet(() -> DefaultClientResources.builder().ioThreadPoolSize(2).computationThreadPoolSize(2))
			.reconnectDelay(Delay.exponential(Duration.ZERO, MAX_RECONNECT_DELAY, 2, TimeUnit.MILLISECONDS))
			.nettyCustomizer(consolidatingFlushes(application.map(ClientResources::nettyCustomizer)
				.orElse(DefaultClientResources.DEFAULT_NETTY_CUSTOMIZER)))
			.build();
	}

	/*
	 * Resources that a builder is given stay the application's, and are not shut down
	 * with those that it builds. mutate() would copy them with an event loop of its own,
	 * and stop the application's timer. The application publishes the latencies already.
	 * Its tracing would make a trace of each renewal, which no call has sent.
	 */
	private static ClientResources.Builder sharing(ClientResources application) {
		return DefaultClientResources.builder()
			.addressResolverGroup(application.addressResolverGroup())
			.commandLatencyPublisherOptions(DefaultEventPublisherOptions.disabled())
			.commandLatencyRecorder(application.commandLatencyRecorder())
			.eventBus(application.eventBus())
			.eventExecutorGroup(application.eventExecutorGroup())
			.eventLoopGroupProvider(application.eventLoopGroupProvider())
			.socketAddressResolver(application.socketAddressResolver())
			.timer(application.timer())
			.tracing(Tracing.disabled());
	}

	/*
	 * Lettuce flushes after each command. Commands that callers send at the same time
	 * reach the server in one segment if the flush waits until the event loop has written
	 * what is waiting; not all of it, or the server would be idle meanwhile.
	 */
	private static NettyCustomizer consolidatingFlushes(NettyCustomizer application) {
		return new NettyCustomizer() {

			@Override
			public void afterBootstrapInitialized(Bootstrap bootstrap) {
				application.afterBootstrapInitialized(bootstrap);
			}

			@Override
			public void afterChannelInitialized(Channel channel) {
				channel.pipeline().addFirst(new FlushConsolidationHandler(COMMANDS_PER_FLUSH, true));
				application.afterChannelInitialized(channel);
			}

		};
	}

	/*
	 * With a read preference, Lettuce finds the master among several nodes, but
	 * subscribes at the configured node.
	 */
	Topology topology() {
		Topology topology = Topology.of(this.redisConfiguration);
		return (topology == Topology.SINGLE && this.application.getReadFrom().isPresent()) ? Topology.UNKNOWN
				: topology;
	}

	/**
	 * Creates the factory of the connections that all threads share.
	 */
	SharedLettuceConnectionFactory sharedFactory() {
		return new SharedLettuceConnectionFactory(this.redisConfiguration, reconnecting(), this.commandTimeout, true);
	}

	/**
	 * Creates and starts a factory for one subscription. In a cluster any node will do.
	 * The driver would choose the one with the fewest clients, which is repeatedly the
	 * one that does not reply. Of a master and its replicas any will do too: replicas
	 * pass on what is published at the master.
	 * @param any the address of a node; empty if none is known
	 */
	SharedLettuceConnectionFactory openSubscriber(String any) {
		if (this.redisConfiguration instanceof RedisStaticMasterReplicaConfiguration servers) {
			List<RedisStandaloneConfiguration> nodes = servers.getNodes();
			RedisStandaloneConfiguration one = nodes.get(ThreadLocalRandom.current().nextInt(nodes.size()));
			return openSubscriber(one.getHostName(), one.getPort(), servers);
		}
		if (!(this.redisConfiguration instanceof RedisClusterConfiguration cluster) || any.isEmpty()) {
			return open(this.redisConfiguration, reconnecting());
		}
		RedisNode node = RedisNode.fromString(any);
		return openSubscriber(node.getRequiredHost(), node.getRequiredPort(), cluster);
	}

	private SharedLettuceConnectionFactory openSubscriber(String host, int port, WithAuthentication login) {
		RedisStandaloneConfiguration node = new RedisStandaloneConfiguration(host, port);
		node.setUsername(login.getUsername());
		node.setPassword(login.getPassword());
		return open(node, reconnecting());
	}

	/**
	 * Creates and starts a factory of connections that are closed when they break.
	 */
	SharedLettuceConnectionFactory openDedicated() {
		return open(this.redisConfiguration, builder(options().mutate().autoReconnect(false).build(),
				Collections.max(List.of(this.commandTimeout, MIN_DEDICATED_HANDSHAKE_TIMEOUT)))
			.build());
	}

	private SharedLettuceConnectionFactory open(RedisConfiguration where, LettuceClientConfiguration client) {
		SharedLettuceConnectionFactory factory = new SharedLettuceConnectionFactory(where, client, this.commandTimeout,
				false);
		factory.start();
		return factory;
	}

	/**
	 * Shuts the client resources down, except for what is the application's.
	 */
	void shutdownResources() {
		this.resources.shutdown(0, this.commandTimeout.toMillis(), TimeUnit.MILLISECONDS);
	}

	/**
	 * Returns the configuration of connections that reconnect automatically. Its command
	 * timeout is the timeout of the handshake; for commands, callers have their own.
	 */
	LettuceClientConfiguration reconnecting() {
		LettuceClientConfigurationBuilder builder = builder(options(), handshakeTimeout());
		this.application.getReadFrom().ifPresent((readFrom) -> builder.readFrom(ReadFrom.MASTER));
		return builder.build();
	}

	private LettuceClientConfigurationBuilder builder(ClientOptions options, Duration timeout) {
		LettuceClientConfigurationBuilder builder = LettuceClientConfiguration.builder()
			.clientResources(this.resources)
			.clientOptions(options)
			.commandTimeout(timeout)
			.shutdownTimeout(this.commandTimeout)
			.shutdownQuietPeriod(Duration.ZERO);
		this.application.getClientName().filter(StringUtils::hasText).ifPresent(builder::clientName);
		this.application.getRedisCredentialsProviderFactory().ifPresent(builder::redisCredentialsProviderFactory);
		if (this.application.isUseSsl()) {
			LettuceSslClientConfigurationBuilder ssl = builder.useSsl().verifyPeer(this.application.getVerifyMode());
			if (this.application.isStartTls()) {
				ssl.startTls();
			}
		}
		return builder;
	}

	/*
	 * Callers wait for a connection no longer than for a reply, except for the first one,
	 * but an attempt may continue and serve the next caller.
	 */
	private Duration handshakeTimeout() {
		Topology topology = topology();
		boolean failover = topology == Topology.SENTINEL || topology == Topology.CLUSTER;
		return Collections
			.max(List.of(this.commandTimeout, failover ? MIN_FAILOVER_HANDSHAKE_TIMEOUT : this.connectTimeout));
	}

	private ClientOptions options() {
		ClientOptions options = this.application.getClientOptions().orElseGet(ClientOptions::create);
		SocketOptions socket = options.getSocketOptions();
		Duration connectTimeout = RedisConnections.shorter(socket.getConnectTimeout(), handshakeTimeout());
		ClientOptions ours = options.mutate()
			.autoReconnect(true)
			.requestQueueSize(Math.min(options.getRequestQueueSize(), MAX_PENDING))
			.suspendReconnectOnProtocolFailure(false)
			.disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
			.socketOptions(socket.mutate().connectTimeout(connectTimeout).build())
			// callers have a timeout of their own, so commands need no timer
			.timeoutOptions(TimeoutOptions.create())
			.build();
		return (topology() == Topology.CLUSTER) ? forCluster(ours) : ours;
	}

	/*
	 * A client that does not look for a new master at the first sign of a failure keeps
	 * using the old one.
	 */
	private static ClusterClientOptions forCluster(ClientOptions options) {
		ClusterClientOptions present = (options instanceof ClusterClientOptions cluster) ? cluster
				: ClusterClientOptions.builder(options).build();
		return present.mutate()
			.topologyRefreshOptions(ClusterTopologyRefreshOptions.builder()
				.adaptiveRefreshTriggersTimeout(TOPOLOGY_REFRESH_PAUSE)
				.dynamicRefreshSources(present.getTopologyRefreshOptions().useDynamicRefreshSources())
				.build())
			.build();
	}

}
