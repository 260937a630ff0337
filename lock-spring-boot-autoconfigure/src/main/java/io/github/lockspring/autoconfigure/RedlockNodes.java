package io.github.lockspring.autoconfigure;

import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import io.github.lockspring.autoconfigure.DistributedLockProperties.Redlock;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import io.lettuce.core.resource.ClientResources;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.boot.context.properties.PropertyMapper;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * The servers of the store redlock. Creates connection factories for them, which the
 * store never starts: it reads their configuration, and opens connections of its own.
 */
final class RedlockNodes {

	private RedlockNodes() {
	}

	/**
	 * Reads the URLs of the nodes.
	 * @throws LockConfigurationException if one of them is something else
	 */
	static List<RedisURI> parse(Redlock redlock) {
		List<RedisURI> nodes = new ArrayList<>();
		for (String url : redlock.nodes()) {
			nodes.add(parse(url.trim(), "redlock.nodes[" + nodes.size() + "]"));
		}
		if (redlock.ssl().bundle() != null && nodes.stream().noneMatch(RedisURI::isSsl)) {
			throw PropertyChecks.invalid("redlock.ssl.bundle", redlock.ssl().bundle(),
					"The nodes begin with redis://, so nothing would be encrypted",
					"Begin them with rediss://, or leave the property out");
		}
		return nodes;
	}

	private static RedisURI parse(String url, String property) {
		try {
			if (url.matches("rediss?://.*") && URI.create(url).getHost() != null) {
				RedisURI node = RedisURI.create(url);
				// the store compares names, and those of hosts have no case
				node.setHost(node.getHost().toLowerCase(Locale.ROOT));
				return node;
			}
		}
		catch (IllegalArgumentException ex) {
			// its message may have the password
		}
		throw PropertyChecks.secret(property, "it is not the URL of a server",
				"Write it as redis://user:password@host:6379/0, or rediss:// with TLS;"
						+ " in names and passwords, characters such as @, / and , are written %40, %2F and %2C.");
	}

	static List<RedisConnectionFactory> connect(Redlock redlock, BeanFactory beanFactory) {
		List<RedisURI> nodes = parse(redlock);
		SslBundle bundle = LockSslBundles.find(beanFactory, "redlock", redlock.ssl());
		List<RedisConnectionFactory> factories = new ArrayList<>();
		for (RedisURI node : nodes) {
			var client = LettuceClientConfiguration.builder();
			// shares the application's threads if it has a bean for them
			beanFactory.getBeanProvider(ClientResources.class).ifUnique(client::clientResources);
			if (node.isSsl()) {
				client.useSsl();
				if (bundle != null) {
					client.clientOptions(ClientOptions.builder().sslOptions(options(bundle)).build());
				}
			}
			factories.add(new LettuceConnectionFactory(LettuceConnectionFactory.createRedisConfiguration(node),
					client.build()));
		}
		return factories;
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
