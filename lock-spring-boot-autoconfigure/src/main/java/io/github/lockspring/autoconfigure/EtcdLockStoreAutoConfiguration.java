package io.github.lockspring.autoconfigure;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

import javax.net.ssl.SSLException;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.ClientBuilder;
import io.github.lockspring.autoconfigure.DistributedLockProperties.Etcd;
import io.github.lockspring.etcd.EtcdLockStore;
import io.github.lockspring.etcd.EtcdStoreSettings;
import io.github.lockspring.store.LockStore;
import io.netty.handler.ssl.SslContextBuilder;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.ssl.NoSuchSslBundleException;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.boot.ssl.SslOptions;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;

/**
 * Auto-configuration of the {@link LockStore} in etcd: on the application's
 * {@link Client} bean, or on a client of its own.
 *
 * @since 0.1
 */
@AutoConfiguration
@ConditionalOnClass({ EtcdLockStore.class, Client.class })
@ConditionalOnLockStore(DistributedLockProperties.Store.ETCD)
@ConditionalOnMissingBean(LockStore.class)
@EnableConfigurationProperties(DistributedLockProperties.class)
public final class EtcdLockStoreAutoConfiguration {

	/** A server takes pings of a connection each 5 seconds at most. */
	private static final Duration KEEPALIVE = Duration.ofSeconds(10);

	@Bean
	@Lazy
	EtcdLockStore lockspringEtcdLockStore(ObjectProvider<Client> clients, ObjectProvider<SslBundles> bundles,
			DistributedLockProperties properties) {
		Client client = clients.getIfAvailable();
		return (client != null) ? EtcdLockStore.create(client, settings(properties))
				: EtcdLockStore.createOwning(() -> client(properties.etcd(), bundles), settings(properties));
	}

	private static EtcdStoreSettings settings(DistributedLockProperties properties) {
		Etcd etcd = properties.etcd();
		return new EtcdStoreSettings(properties.keyPrefix(), etcd.root(), etcd.commandTimeout(), etcd.connectTimeout());
	}

	private static Client client(Etcd etcd, ObjectProvider<SslBundles> bundles) {
		ClientBuilder builder = Client.builder()
			.endpoints(etcd.endpoints().toArray(String[]::new))
			.connectTimeout(etcd.connectTimeout())
			.keepaliveTime(KEEPALIVE)
			.keepaliveTimeout(etcd.commandTimeout())
			// a refused connection is told at once, and the store repeats its requests
			// itself
			.waitForReady(false)
			.retryMaxAttempts(1);
		if (etcd.username() != null && etcd.password() != null) {
			builder.user(bytes(etcd.username())).password(bytes(etcd.password()));
		}
		if (etcd.endpoints().get(0).startsWith("https:")) {
			encrypt(builder, etcd.ssl().bundle(), bundles);
		}
		return builder.build();
	}

	private static void encrypt(ClientBuilder builder, @Nullable String bundle, ObjectProvider<SslBundles> bundles) {
		try {
			SslBundle found = (bundle != null) ? bundles.getObject().getBundle(bundle) : null;
			builder.sslContext((context) -> {
				if (found != null) {
					use(found, context);
				}
			});
		}
		catch (NoSuchBeanDefinitionException | NoSuchSslBundleException ex) {
			throw new LockPropertyException("etcd.ssl.bundle", bundle, "there is no SSL bundle of this name",
					"Define it with spring.ssl.bundle.*, or leave the property out to use the certificates that the JVM"
							+ " trusts.");
		}
		catch (SSLException ex) {
			throw new LockPropertyException("etcd.ssl.bundle", bundle, "it cannot be used: " + ex.getMessage(),
					"Check the options of the bundle.");
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
