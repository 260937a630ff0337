package io.github.lockspring.redis.client;

import java.util.concurrent.TimeUnit;

import io.lettuce.core.event.EventBus;
import io.lettuce.core.event.EventPublisherOptions;
import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.Delay;
import io.lettuce.core.resource.EventLoopGroupProvider;
import io.lettuce.core.resource.NettyCustomizer;
import io.lettuce.core.resource.SocketAddressResolver;
import io.lettuce.core.tracing.Tracing;
import io.netty.resolver.AddressResolverGroup;
import io.netty.util.Timer;
import io.netty.util.concurrent.EventExecutorGroup;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ImmediateEventExecutor;

/**
 * The application's client resources with another delay between attempts to reconnect.
 * They stay the application's: {@code shutdown()} does nothing. ({@code mutate()} of
 * Lettuce's own class would copy them with an event loop of its own, and stop the
 * application's timer.)
 */
final class ReconnectDelayClientResources implements ClientResources {

	private final ClientResources application;

	private final Delay reconnectDelay;

	ReconnectDelayClientResources(ClientResources application, Delay reconnectDelay) {
		this.application = application;
		this.reconnectDelay = reconnectDelay;
	}

	@Override
	public Delay reconnectDelay() {
		return this.reconnectDelay;
	}

	@Override
	public Future<Boolean> shutdown() {
		return ImmediateEventExecutor.INSTANCE.newSucceededFuture(Boolean.TRUE);
	}

	@Override
	public Future<Boolean> shutdown(long quietPeriod, long timeout, TimeUnit timeUnit) {
		return shutdown();
	}

	@Override
	public Builder mutate() {
		return this.application.mutate();
	}

	@Override
	public AddressResolverGroup<?> addressResolverGroup() {
		return this.application.addressResolverGroup();
	}

	@Override
	public EventPublisherOptions commandLatencyPublisherOptions() {
		return this.application.commandLatencyPublisherOptions();
	}

	@Override
	public CommandLatencyRecorder commandLatencyRecorder() {
		return this.application.commandLatencyRecorder();
	}

	@Override
	public int computationThreadPoolSize() {
		return this.application.computationThreadPoolSize();
	}

	@Override
	public EventBus eventBus() {
		return this.application.eventBus();
	}

	@Override
	public EventLoopGroupProvider eventLoopGroupProvider() {
		return this.application.eventLoopGroupProvider();
	}

	@Override
	public EventExecutorGroup eventExecutorGroup() {
		return this.application.eventExecutorGroup();
	}

	@Override
	public int ioThreadPoolSize() {
		return this.application.ioThreadPoolSize();
	}

	@Override
	public NettyCustomizer nettyCustomizer() {
		return this.application.nettyCustomizer();
	}

	@Override
	public SocketAddressResolver socketAddressResolver() {
		return this.application.socketAddressResolver();
	}

	@Override
	public Timer timer() {
		return this.application.timer();
	}

	@Override
	public Tracing tracing() {
		return this.application.tracing();
	}

}
