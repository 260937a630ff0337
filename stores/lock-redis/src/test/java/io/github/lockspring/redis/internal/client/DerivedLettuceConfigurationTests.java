package io.github.lockspring.redis.internal.client;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.lettuce.core.resource.ClientResources;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

class DerivedLettuceConfigurationTests {

	@Test
	void commandsThatAreSentAtTheSameTimeAreFlushedOnce() {
		EmbeddedChannel channel = new EmbeddedChannel();
		List<Object> reached = new ArrayList<>();
		DerivedLettuceConfiguration derived = new DerivedLettuceConfiguration(
				LettuceClientConfiguration.defaultConfiguration(), new RedisStandaloneConfiguration(),
				Duration.ofSeconds(1), Duration.ofSeconds(5));
		ClientResources resources = derived.reconnecting().getClientResources().orElseThrow();
		try {
			resources.nettyCustomizer().afterChannelInitialized(channel);
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
		}
		finally {
			channel.finishAndReleaseAll();
			derived.shutdownResources();
		}
	}

}
