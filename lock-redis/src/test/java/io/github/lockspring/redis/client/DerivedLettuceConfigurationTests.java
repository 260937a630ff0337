package io.github.lockspring.redis.client;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.resource.ClientResources;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

class DerivedLettuceConfigurationTests {

	private static final Set<String> CHANGED = Set.of("reconnectDelay", "commandLatencyPublisherOptions", "mutate",
			"shutdown");

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

}
