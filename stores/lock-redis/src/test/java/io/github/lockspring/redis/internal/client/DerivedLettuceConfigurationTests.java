package io.github.lockspring.redis.internal.client;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.nio.NioEventLoopGroup;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

class DerivedLettuceConfigurationTests {

	private static final Set<String> CHANGED = Set.of("reconnectDelay", "commandLatencyPublisherOptions", "mutate",
			"nettyCustomizer", "shutdown");

	@Test
	void sharesAllClientResourcesOfTheApplicationAndDoesNotShutThemDown() throws Exception {
		ClientResources application = ClientResources.create();
		try {
			DerivedLettuceConfiguration derived = new DerivedLettuceConfiguration(
					LettuceClientConfiguration.builder().clientResources(application).build(),
					new RedisStandaloneConfiguration(), Duration.ofSeconds(1), Duration.ofSeconds(5));
			ClientResources ours = derived.reconnecting().getClientResources().orElseThrow();
			for (Method method : ClientResources.class.getMethods()) {
				if (!Modifier.isStatic(method.getModifiers()) && !CHANGED.contains(method.getName())) {
					assertThat(method.invoke(ours)).as(method.getName()).isEqualTo(method.invoke(application));
				}
			}
			assertThat(ours.commandLatencyPublisherOptions().eventEmitInterval()).isZero();
			assertThat(ours.reconnectDelay().createDelay(20)).isEqualTo(Duration.ofMillis(500));
			Class<? extends EventLoopGroup> type = NioEventLoopGroup.class;
			EventLoopGroup io = application.eventLoopGroupProvider().allocate(type);
			derived.shutdownResources();
			application.eventExecutorGroup().submit(() -> "runs").get();
			io.submit(() -> "runs").get();
			assertThat(application.timer().newTimeout((timeout) -> {
			}, 1, TimeUnit.MINUTES).cancel()).isTrue();
		}
		finally {
			application.shutdown(0, 0, TimeUnit.SECONDS);
		}
	}

	@Test
	void commandsThatAreSentAtTheSameTimeAreFlushedOnceAndTheCustomizerOfTheApplicationIsCalled() {
		List<Channel> customized = new ArrayList<>();
		ClientResources application = ClientResources.builder().nettyCustomizer(new NettyCustomizer() {

			@Override
			public void afterChannelInitialized(Channel channel) {
				customized.add(channel);
			}

		}).build();
		EmbeddedChannel channel = new EmbeddedChannel();
		List<Object> reached = new ArrayList<>();
		DerivedLettuceConfiguration derived = new DerivedLettuceConfiguration(
				LettuceClientConfiguration.builder().clientResources(application).build(),
				new RedisStandaloneConfiguration(), Duration.ofSeconds(1), Duration.ofSeconds(5));
		try {
			derived.reconnecting()
				.getClientResources()
				.orElseThrow()
				.nettyCustomizer()
				.afterChannelInitialized(channel);
			channel.pipeline().addFirst(new ChannelOutboundHandlerAdapter() {

				@Override
				public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
					reached.add(message);
				}

				@Override
				public void flush(ChannelHandlerContext context) {
					reached.add("flush");
				}

			});
			List.of("one", "two", "three").forEach((command) -> channel.pipeline().writeAndFlush(command));
			channel.runPendingTasks();
			assertThat(reached).containsExactly("one", "two", "three", "flush");
			assertThat(customized).containsExactly(channel);
		}
		finally {
			channel.finishAndReleaseAll();
			derived.shutdownResources();
			application.shutdown(0, 0, TimeUnit.SECONDS);
		}
	}

}
