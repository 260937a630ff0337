package io.github.lockspring.autoconfigure;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;

import javax.net.ssl.SSLException;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.ClientBuilder;
import io.github.lockspring.autoconfigure.DistributedLockProperties.Etcd;
import io.github.lockspring.autoconfigure.DistributedLockProperties.Ssl;
import io.github.lockspring.autoconfigure.DistributedLockProperties.Store;
import io.github.lockspring.etcd.EtcdLockStore;
import io.github.lockspring.store.LockStore;
import io.netty.handler.ssl.SslContextBuilder;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslOptions;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;

/**
 * Auto-configuration of the {@link LockStore} in etcd: on the application's
 * {@link Client} bean, or on clients of its own.
 *
 * @since 0.1
 */
@AutoConfiguration
@ConditionalOnClass({ EtcdLockStore.class, Client.class })
@ConditionalOnLockStore(Store.ETCD)
@ConditionalOnMissingBean(LockStore.class)
@EnableConfigurationProperties(DistributedLockProperties.class)
public final class EtcdLockStoreAutoConfiguration {

	/** A server takes pings of a connection each 5 seconds at most. */
	private static final Duration KEEPALIVE = Duration.ofSeconds(10);

	@Bean
	@Lazy
	EtcdLockStore lockspringEtcdLockStore(ObjectProvider<Client> clients, DistributedLockProperties properties,
			BeanFactory beanFactory, Environment environment) {
		Client client = clients.getIfAvailable();
		Duration commandTimeout = LockTimeouts.command(properties, Store.ETCD, environment);
		return configure(
				(client != null) ? EtcdLockStore.builder(client)
						: EtcdLockStore.builder(clients(properties.etcd(), commandTimeout, beanFactory)),
				properties, environment)
			.build();
	}

	static EtcdLockStore.Builder configure(EtcdLockStore.Builder builder, DistributedLockProperties properties,
			Environment environment) {
		return builder.keyPrefix(properties.keyPrefix())
			.commandTimeout(LockTimeouts.command(properties, Store.ETCD, environment));
	}

	/** One for each endpoint: a client decides by itself when it asks another one. */
	private static List<Supplier<Client>> clients(Etcd etcd, Duration commandTimeout, BeanFactory beanFactory) {
		return etcd.endpoints()
			.stream()
			.<Supplier<Client>>map((endpoint) -> () -> client(etcd, endpoint, commandTimeout, beanFactory))
			.toList();
	}

	private static Client client(Etcd etcd, String endpoint, Duration commandTimeout, BeanFactory beanFactory) {
		ClientBuilder builder = Client.builder()
			.endpoints(endpoint)
			// a member without a majority reports that, instead of waiting for one
			.header("hasleader", "true")
			.connectTimeout(LockTimeouts.CONNECT)
			.keepaliveTime(KEEPALIVE)
			.keepaliveTimeout(commandTimeout)
			// a refused connection is reported at once, and the store repeats its
			// requests itself
			.waitForReady(false)
			.retryMaxAttempts(1);
		if (etcd.username() != null && etcd.password() != null) {
			builder.user(bytes(etcd.username())).password(bytes(etcd.password()));
		}
		if (etcd.endpoints().get(0).startsWith("https:")) {
			encrypt(builder, etcd.ssl(), beanFactory);
		}
		return builder.build();
	}

	private static void encrypt(ClientBuilder builder, Ssl ssl, BeanFactory beanFactory) {
		SslBundle bundle = LockSslBundles.find(beanFactory, "etcd", ssl);
		try {
			builder.sslContext((context) -> {
				if (bundle != null) {
					use(bundle, context);
				}
			});
		}
		catch (SSLException ex) {
			if (bundle == null) {
				throw new LockConfigurationException(
						"TLS with etcd is not possible: " + ex.getMessage() + ", with the trust store of the JVM.",
						"Check javax.net.ssl.trustStore and the like, or set distributed-lock.etcd.ssl.bundle.", ex);
			}
			throw PropertyChecks.invalid("etcd.ssl.bundle", String.valueOf(ssl.bundle()),
					"It cannot be used: " + ex.getMessage(), "Check the options of the bundle");
		}
	}

	private static void use(SslBundle bundle, SslContextBuilder context) {
		context.keyManager(bundle.getManagers().getKeyManagerFactory())
			.trustManager(bundle.getManagers().getTrustManagerFactory());
		SslOptions options = bundle.getOptions();
		if (options.getCiphers() != null) {
			context.ciphers(List.of(options.getCiphers()));
		}
		if (options.getEnabledProtocols() != null) {
			context.protocols(options.getEnabledProtocols());
		}
	}

	private static ByteSequence bytes(String text) {
		return ByteSequence.from(text, StandardCharsets.UTF_8);
	}

}
