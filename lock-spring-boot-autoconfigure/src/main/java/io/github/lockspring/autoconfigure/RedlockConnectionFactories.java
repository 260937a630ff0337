package io.github.lockspring.autoconfigure;

import javax.net.ssl.SSLParameters;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.SslOptions;
import io.lettuce.core.resource.ClientResources;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.boot.context.properties.PropertyMapper;
import org.springframework.boot.ssl.NoSuchSslBundleException;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
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
	 * @param clientType the value of {@code spring.data.redis.client-type}, or null
	 */
	static RedlockConnectionFactories of(BeanFactory beanFactory, @Nullable String clientType) {
		ClassLoader classLoader = RedlockConnectionFactories.class.getClassLoader();
		boolean lettuce = ClassUtils.isPresent("io.lettuce.core.RedisClient", classLoader);
		boolean jedis = ClassUtils.isPresent("redis.clients.jedis.RedisClient", classLoader);
		if (jedis && (!lettuce || "jedis".equalsIgnoreCase(clientType))) {
			return new Jedis(beanFactory);
		}
		if (lettuce) {
			return new Lettuce(beanFactory);
		}
		throw new LockPropertyException("store", "redlock", "there is no driver for Redis on the class path",
				"Add the dependency io.lettuce:lettuce-core or redis.clients:jedis.");
	}

	private static RedisStandaloneConfiguration configuration(RedlockAddress address) {
		RedisStandaloneConfiguration configuration = new RedisStandaloneConfiguration(address.host(), address.port());
		configuration.setDatabase(address.database());
		configuration.setUsername(address.username());
		configuration.setPassword(address.password());
		return configuration;
	}

	private static @Nullable SslBundle bundle(RedlockAddress address, BeanFactory beanFactory) {
		String name = address.bundle();
		try {
			return (name != null) ? beanFactory.getBean(SslBundles.class).getBundle(name) : null;
		}
		catch (NoSuchBeanDefinitionException | NoSuchSslBundleException ex) {
			throw new LockPropertyException(address.property() + ".ssl.bundle", name,
					"there is no SSL bundle of this name",
					"Define it with spring.ssl.bundle.*, or leave the property out to use the certificates that the JVM"
							+ " trusts.");
		}
	}

	/** Loaded only if Lettuce is on the class path. */
	record Lettuce(BeanFactory beanFactory) implements RedlockConnectionFactories {

		@Override
		public RedisConnectionFactory create(RedlockAddress address) {
			var client = LettuceClientConfiguration.builder();
			// shares the application's threads if it has a bean for them
			this.beanFactory.getBeanProvider(ClientResources.class).ifUnique(client::clientResources);
			if (address.ssl()) {
				client.useSsl();
				SslBundle bundle = bundle(address, this.beanFactory);
				if (bundle != null) {
					client.clientOptions(ClientOptions.builder().sslOptions(options(bundle)).build());
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
	record Jedis(BeanFactory beanFactory) implements RedlockConnectionFactories {

		@Override
		public RedisConnectionFactory create(RedlockAddress address) {
			JedisClientConfiguration.JedisClientConfigurationBuilder client = JedisClientConfiguration.builder();
			if (address.ssl()) {
				var ssl = client.useSsl();
				SslBundle bundle = bundle(address, this.beanFactory);
				if (bundle != null) {
					ssl.sslSocketFactory(bundle.createSslContext().getSocketFactory());
					SSLParameters parameters = new SSLParameters();
					parameters.setCipherSuites(bundle.getOptions().getCiphers());
					parameters.setProtocols(bundle.getOptions().getEnabledProtocols());
					ssl.sslParameters(parameters);
				}
			}
			return new JedisConnectionFactory(configuration(address), client.build());
		}

	}

}
