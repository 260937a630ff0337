package io.github.lockspring.autoconfigure;

import javax.net.ssl.SSLParameters;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.SslOptions;
import io.lettuce.core.resource.ClientResources;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
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
 * Makes connection factories for single servers, with the driver that the application
 * uses. They are never started: the store takes from them where the servers are, and has
 * connections of its own.
 */
interface RedlockConnectionFactories {

	RedisConnectionFactory create(RedlockAddress address);

	/**
	 * Finds the driver.
	 * @param clientType what the application says about it
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

	private static RedisStandaloneConfiguration place(RedlockAddress address) {
		RedisStandaloneConfiguration place = new RedisStandaloneConfiguration(address.host(), address.port());
		place.setDatabase(address.database());
		place.setUsername(address.username());
		place.setPassword(address.password());
		return place;
	}

	private static @Nullable SslBundle bundle(RedlockAddress address, BeanFactory beanFactory) {
		String name = address.bundle();
		if (name == null || !address.ssl()) {
			return null;
		}
		SslBundles bundles = beanFactory.getBeanProvider(SslBundles.class).getIfAvailable();
		try {
			if (bundles != null) {
				return bundles.getBundle(name);
			}
		}
		catch (NoSuchSslBundleException ex) {
			// said below
		}
		throw new LockPropertyException(address.property() + ".ssl.bundle", name, "there is no SSL bundle of this name",
				"Define it with spring.ssl.bundle.*, or leave the property out to use the certificates that the JVM"
						+ " trusts.");
	}

	/** Loaded only if Lettuce is there. */
	final class Lettuce implements RedlockConnectionFactories {

		private final BeanFactory beanFactory;

		Lettuce(BeanFactory beanFactory) {
			this.beanFactory = beanFactory;
		}

		@Override
		public RedisConnectionFactory create(RedlockAddress address) {
			var client = LettuceClientConfiguration.builder();
			// the application's threads, if it has any; otherwise each server has its own
			this.beanFactory.getBeanProvider(ClientResources.class).ifUnique(client::clientResources);
			if (address.ssl()) {
				client.useSsl();
				SslBundle bundle = bundle(address, this.beanFactory);
				if (bundle != null) {
					client.clientOptions(ClientOptions.builder().sslOptions(options(bundle)).build());
				}
			}
			return new LettuceConnectionFactory(place(address), client.build());
		}

		private static SslOptions options(SslBundle bundle) {
			SslOptions.Builder options = SslOptions.builder()
				.keyManager(bundle.getManagers().getKeyManagerFactory())
				.trustManager(bundle.getManagers().getTrustManagerFactory());
			String[] ciphers = bundle.getOptions().getCiphers();
			if (ciphers != null) {
				options.cipherSuites(ciphers);
			}
			String[] protocols = bundle.getOptions().getEnabledProtocols();
			if (protocols != null) {
				options.protocols(protocols);
			}
			return options.build();
		}

	}

	/** Loaded only if Jedis is there. */
	final class Jedis implements RedlockConnectionFactories {

		private final BeanFactory beanFactory;

		Jedis(BeanFactory beanFactory) {
			this.beanFactory = beanFactory;
		}

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
			return new JedisConnectionFactory(place(address), client.build());
		}

	}

}
