package io.github.lockspring.redis;

import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.testsupport.network.TestCertificate;
import io.github.lockspring.testsupport.redis.RedisCluster;
import io.github.lockspring.testsupport.redis.RedisServer;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.SslOptions;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.channel.Channel;
import io.github.lockspring.testsupport.store.JoinedStore;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.Lifecycle;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.RedisOperations;
import org.springframework.data.redis.core.SessionCallback;
import org.springframework.data.redis.core.StringRedisTemplate;

import static io.github.lockspring.redis.StoreFixture.PATIENT;
import static io.github.lockspring.redis.StoreFixture.acquire;
import static io.github.lockspring.redis.StoreFixture.isAcquired;
import static io.github.lockspring.redis.StoreFixture.release;
import static io.github.lockspring.redis.StoreFixture.token;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What the store takes over from the application, and what it keeps to itself.
 */
class ApplicationSettingsTests {

	private static final RedisServer server = RedisServer.shared();

	@BeforeEach
	void flush() {
		server.flushAll();
	}

	@ParameterizedTest
	@EnumSource
	void tlsUserAndDatabaseAreThoseOfTheApplication(Driver driver, @TempDir Path directory) throws Exception {
		TestCertificate certificate = TestCertificate.make(directory);
		int tlsPort = RedisServer.freePort();
		try (RedisServer closed = RedisServer.start("--tls-port", String.valueOf(tlsPort), "--tls-cert-file",
				certificate.certificate().toString(), "--tls-key-file", certificate.privateKey().toString(),
				"--tls-ca-cert-file", certificate.certificate().toString(), "--tls-auth-clients", "no")) {
			closed.command("ACL", "SETUSER", "app", "on", ">secret", "~*", "&*", "+@all");
			closed.command("ACL", "SETUSER", "default", "resetpass", ">other");
			RedisStandaloneConfiguration where = new RedisStandaloneConfiguration("localhost", tlsPort);
			where.setUsername("app");
			where.setPassword("secret");
			where.setDatabase(3);
			RedisConnectionFactory application = (driver == Driver.LETTUCE)
					? new LettuceConnectionFactory(where, lettuce(certificate))
					: new JedisConnectionFactory(where, jedis(certificate));
			try (RedisLockStore store = StoreFixture.store(application, PATIENT)) {
				OwnerToken token = token();
				assertThat(isAcquired(store, "k", token)).isTrue();
				assertThat(closed.keys()).isEmpty();
				closed.command("SELECT", "3");
				assertThat(closed.get("lock:k")).isEqualTo(token.toString());
				assertThat((String) closed.command("CLIENT", "LIST")).contains("user=app");
				release(store, "k", token);
				assertThat(closed.exists("lock:k")).isFalse();
			}
		}
	}

	@ParameterizedTest
	@EnumSource
	void transactionAndPipelineOfTheApplicationDoNotReachTheLocks(Driver driver) throws Exception {
		RedisConnectionFactory application = started(driver.factory(server.port()));
		StringRedisTemplate template = new StringRedisTemplate(application);
		try (RedisLockStore store = StoreFixture.store(application, PATIENT)) {
			template.execute(new SessionCallback<Object>() {
				@Override
				public <K, V> Object execute(RedisOperations<K, V> operations) throws DataAccessException {
					operations.multi();
					assertThat(isAcquired(store, "in a transaction", token())).isTrue();
					return operations.exec();
				}
			});
			template.executePipelined(new SessionCallback<Object>() {
				@Override
				public <K, V> @Nullable Object execute(RedisOperations<K, V> operations) {
					assertThat(isAcquired(store, "in a pipeline", token())).isTrue();
					return null;
				}
			});
		}
		finally {
			((DisposableBean) application).destroy();
		}
	}

	@Test
	void clientResourcesOfTheApplicationAreSharedAndNotShutDown() {
		List<Channel> channels = new CopyOnWriteArrayList<>();
		ClientResources resources = ClientResources.builder().nettyCustomizer(new NettyCustomizer() {
			@Override
			public void afterChannelInitialized(Channel channel) {
				channels.add(channel);
			}
		}).build();
		try {
			LettuceConnectionFactory application = new LettuceConnectionFactory(
					new RedisStandaloneConfiguration(server.host(), server.port()),
					LettuceClientConfiguration.builder().clientResources(resources).build());
			application.afterPropertiesSet();
			application.start();
			assertThat(application.getConnection().ping()).isEqualTo("PONG");
			try (RedisLockStore store = StoreFixture.store(application, PATIENT)) {
				acquire(store, "k", token());
			}
			assertThat(channels).hasSizeGreaterThan(1)
				.extracting((channel) -> channel.eventLoop().parent())
				.containsOnly(channels.get(0).eventLoop().parent());
			assertThat(application.getConnection().ping()).isEqualTo("PONG");
			application.destroy();
		}
		finally {
			resources.shutdown(0, 0, TimeUnit.SECONDS);
		}
	}

	@ParameterizedTest
	@EnumSource
	void nothingConnectsBeforeTheFirstRequest(Driver driver) {
		try (RedisServer idle = RedisServer.start(); RedisLockStore store = driver.store(idle.port(), PATIENT)) {
			assertThat(idle.text("CLIENT", "LIST").lines()).hasSize(1);
			acquire(store, "k", token());
			assertThat(idle.text("CLIENT", "LIST").lines()).hasSizeGreaterThan(1);
		}
	}

	@ParameterizedTest
	@EnumSource
	void closedStoreIsUnavailable(Driver driver) {
		RedisLockStore store = driver.store(server.port(), PATIENT);
		acquire(store, "closed", token());
		store.close();
		store.close();
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> acquire(store, "closed", token()));
	}

	@Test
	void leasesAreRenewedOnAClusterBehindAFactoryOfAnUnknownKind() throws Exception {
		RedisConnectionFactory known = started(Driver.LETTUCE.clusterFactory(RedisCluster.shared()));
		try (RedisLockStore store = StoreFixture.store(unknown(known), PATIENT)) {
			List<RenewRequest> requests = new ArrayList<>();
			for (int i = 0; i < 20; i++) {
				OwnerToken token = token();
				assertThat(isAcquired(store, "unknown kind " + i, token)).isTrue();
				requests.add(new RenewRequest("unknown kind " + i, token, StoreFixture.TTL));
			}
			for (int i = 0; i < 2; i++) {
				assertThat(new JoinedStore(store).renew(requests, PATIENT)).hasSize(20)
					.containsOnly(RenewResult.RENEWED);
			}
		}
		((DisposableBean) known).destroy();
	}

	@Test
	void factoryOfAnUnknownKindIsUsedAsItIs() throws Exception {
		RedisConnectionFactory application = started(Driver.LETTUCE.factory(server.port()));
		try (RedisLockStore store = StoreFixture.store(unknown(application), PATIENT)) {
			OwnerToken token = token();
			assertThat(isAcquired(store, "k", token)).isTrue();
			release(store, "k", token);
			assertThat(server.exists("lock:k")).isFalse();
		}
		assertThat(((Lifecycle) application).isRunning()).isTrue();
		((DisposableBean) application).destroy();
	}

	private static RedisConnectionFactory unknown(RedisConnectionFactory application) {
		return (RedisConnectionFactory) Proxy.newProxyInstance(ApplicationSettingsTests.class.getClassLoader(),
				new Class<?>[] { RedisConnectionFactory.class },
				(proxy, method, args) -> method.invoke(application, args));
	}

	private static RedisConnectionFactory started(RedisConnectionFactory factory) {
		((Lifecycle) factory).start();
		return factory;
	}

	private static LettuceClientConfiguration lettuce(TestCertificate certificate) {
		SslOptions ssl = SslOptions.builder()
			.jdkSslProvider()
			.truststore(certificate.store().toFile(), TestCertificate.PASSWORD)
			.build();
		return LettuceClientConfiguration.builder()
			.clientOptions(ClientOptions.builder().sslOptions(ssl).build())
			.useSsl()
			.build();
	}

	private static JedisClientConfiguration jedis(TestCertificate certificate) throws Exception {
		KeyStore store = KeyStore.getInstance(certificate.store().toFile(), TestCertificate.PASSWORD.toCharArray());
		TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
		trust.init(store);
		SSLContext context = SSLContext.getInstance("TLS");
		context.init(null, trust.getTrustManagers(), null);
		return JedisClientConfiguration.builder().useSsl().sslSocketFactory(context.getSocketFactory()).build();
	}

}
