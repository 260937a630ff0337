package io.github.lockspring.autoconfigure;

import javax.net.ssl.SSLParameters;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.SslOptions;
import io.lettuce.core.resource.ClientResources;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.boot.context.properties.PropertyMapper;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.ClassUtils;

/**
 * Creates connection factories for single servers, with the driver that the application
 * uses. The store never starts them: it reads their configuration, and opens connections
 * of its own.
 */
interface RedlockConnectionFactories {

	RedisConnectionFactory create(RedlockAddress address);

	/**
	 * Selects the driver.
	 * @param bundle that of the connections with TLS; null: the trust store of the JVM
	 * @param clientType the value of {@code spring.data.redis.client-type}, or null
	 */
	static RedlockConnectionFactories of(@Nullable SslBundle bundle, BeanFactory beanFactory,
			@Nullable String clientType) {
		ClassLoader classLoader = RedlockConnectionFactories.class.getClassLoader();
		boolean lettuce = ClassUtils.isPresent("io.lettuce.core.RedisClient", classLoader);
		boolean jedis = ClassUtils.isPresent("redis.clients.jedis.RedisClient", classLoader);
		if (jedis && (!lettuce || "jedis".equalsIgnoreCase(clientType))) {
			return new Jedis(bundle);
		}
		if (lettuce) {
			return new Lettuce(bundle, beanFactory);
		}
		throw new LockConfigurationException("There is no driver for Redis on the class path.",
				"Add the dependency io.lettuce:lettuce-core or redis.clients:jedis.", null);
	}

	private static RedisStandaloneConfiguration configuration(RedlockAddress address) {
		RedisStandaloneConfiguration configuration = new RedisStandaloneConfiguration(address.host(), address.port());
		configuration.setDatabase(address.database());
		configuration.setUsername(address.username());
		configuration.setPassword(address.password());
		return configuration;
	}

	/** Loaded only if Lettuce is on the class path. */
	record Lettuce(@Nullable SslBundle bundle, BeanFactory beanFactory) implements RedlockConnectionFactories {

		@Override
		public RedisConnectionFactory create(RedlockAddress address) {
			var client = LettuceClientConfiguration.builder();
			// shares the application's threads if it has a bean for them
			this.beanFactory.getBeanProvider(ClientResources.class).ifUnique(client::clientResources);
			if (address.ssl()) {
				client.useSsl();
				if (this.bundle != null) {
					client.clientOptions(ClientOptions.builder().sslOptions(options(this.bundle)).build());
				}
			}
			return new LettuceConnectionFactory(configuration(address), client.build());
		}

		private static SslOptions options(SslBundle bundle) {
			SslOptions.Builder options = SslOptions.builder()
				.keyManager(bundle.getManagers().getKeyManagerFactory())
				.trustManager(bundle.getManagers().getTrustManagerFactory());
			PropertyMapper map = PropertyMapper.get();
			map.from(bundle.getOptions()::getCiphers).to(options::cipherSuites);
			map.from(bundle.getOptions()::getEnabledProtocols).to(options::protocols);
			return options.build();
		}

	}

	/** Loaded only if Jedis is on the class path. */
	record Jedis(@Nullable SslBundle bundle) implements RedlockConnectionFactories {

		@Override
		public RedisConnectionFactory create(RedlockAddress address) {
			JedisClientConfiguration.JedisClientConfigurationBuilder client = JedisClientConfiguration.builder();
			if (address.ssl()) {
				var ssl = client.useSsl();
				if (this.bundle != null) {
					ssl.sslSocketFactory(this.bundle.createSslContext().getSocketFactory());
					SSLParameters parameters = new SSLParameters();
					parameters.setCipherSuites(this.bundle.getOptions().getCiphers());
					parameters.setProtocols(this.bundle.getOptions().getEnabledProtocols());
					ssl.sslParameters(parameters);
				}
			}
			return new JedisConnectionFactory(configuration(address), client.build());
		}

	}

}
