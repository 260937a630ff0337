package io.github.lockspring.redis;

import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

import io.github.lockspring.store.LockStore.AcquireResult.Acquired;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.testsupport.network.TestCertificate;
import io.github.lockspring.testsupport.redis.RedisCluster;
import io.github.lockspring.testsupport.redis.RedisServer;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.SslOptions;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import io.github.lockspring.testsupport.store.JoinedStore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisConnection;
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
import static io.github.lockspring.redis.StoreFixture.release;
import static io.github.lockspring.redis.StoreFixture.token;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What the store takes over from the application, and what it keeps to itself.
 */
class ApplicationSettingsTests {

	@ParameterizedTest
	@EnumSource
	void tlsUserAndDatabaseAreThoseOfTheApplication(Driver driver, @TempDir Path directory) throws Exception {
		TestCertificate certificate = TestCertificate.make(directory);
		int tlsPort = RedisServer.freePort();
		try (RedisServer server = RedisServer.start("--tls-port", String.valueOf(tlsPort), "--tls-cert-file",
				certificate.certificate().toString(), "--tls-key-file", certificate.privateKey().toString(),
				"--tls-ca-cert-file", certificate.certificate().toString(), "--tls-auth-clients", "no")) {
			server.command("ACL", "SETUSER", "app", "on", ">secret", "~*", "&*", "+@all");
			server.command("ACL", "SETUSER", "default", "resetpass", ">other");
			RedisStandaloneConfiguration where = new RedisStandaloneConfiguration("localhost", tlsPort);
			where.setUsername("app");
			where.setPassword("secret");
			where.setDatabase(3);
			RedisConnectionFactory application = (driver == Driver.LETTUCE)
					? new LettuceConnectionFactory(where, lettuce(certificate))
					: new JedisConnectionFactory(where, jedis(certificate));
			try (RedisLockStore store = StoreFixture.store(application, PATIENT)) {
				OwnerToken token = token();
				assertThat(acquire(store, "k", token)).isInstanceOf(Acquired.class);
				assertThat(server.keys()).isEmpty();
				server.command("SELECT", "3");
				assertThat(server.get("lock:k")).isEqualTo(token.toString());
				assertThat((String) server.command("CLIENT", "LIST")).contains("user=app");
				release(store, "k", token);
				assertThat(server.exists("lock:k")).isFalse();
			}
		}
	}

	@ParameterizedTest
	@EnumSource
	void transactionAndPipelineOfTheApplicationDoNotReachTheLocks(Driver driver) {
		RedisServer server = RedisServer.shared();
		server.flushAll();
		RedisConnectionFactory application = driver.factory(server.port());
		start(application);
		StringRedisTemplate template = new StringRedisTemplate(application);
		try (RedisLockStore store = StoreFixture.store(application, PATIENT)) {
			template.execute(new SessionCallback<Object>() {
				@Override
				public <K, V> Object execute(RedisOperations<K, V> operations) throws DataAccessException {
					operations.multi();
					assertThat(acquire(store, "in a transaction", token())).isInstanceOf(Acquired.class);
					return operations.exec();
				}
			});
			template.executePipelined(new SessionCallback<Object>() {
				@Override
				public <K, V> @org.jspecify.annotations.Nullable Object execute(RedisOperations<K, V> operations)
						throws DataAccessException {
					assertThat(acquire(store, "in a pipeline", token())).isInstanceOf(Acquired.class);
					return null;
				}
			});
		}
		finally {
			stop(application);
		}
	}

	@Test
	void exhaustedJedisPoolOfTheApplicationDoesNotReachTheLocks() {
		RedisServer server = RedisServer.shared();
		server.flushAll();
		GenericObjectPoolConfig<?> pool = new GenericObjectPoolConfig<>();
		pool.setMaxTotal(1);
		JedisConnectionFactory application = new JedisConnectionFactory(
				new RedisStandaloneConfiguration(server.host(), server.port()),
				JedisClientConfiguration.builder().usePooling().poolConfig(pool).build());
		start(application);
		Thread blocked = new Thread(() -> {
			try (RedisConnection connection = application.getConnection()) {
				connection.listCommands().bLPop(30, "nothing".getBytes());
			}
			catch (RuntimeException ex) {
				// the end of the test
			}
		});
		blocked.start();
		await().until(() -> ((String) Objects.requireNonNull(server.command("CLIENT", "LIST"))).contains("cmd=blpop"));
		try (RedisLockStore store = StoreFixture.store(application, PATIENT)) {
			assertThat(acquire(store, "k", token())).isInstanceOf(Acquired.class);
		}
		finally {
			server.command("LPUSH", "nothing", "go on");
			stop(application);
		}
	}

	@ParameterizedTest
	@EnumSource
	void nothingConnectsBeforeTheFirstRequestAndNothingIsLeftAtTheEnd(Driver driver) throws Exception {
		try (RedisServer server = RedisServer.start()) {
			long before = connections(server);
			RedisLockStore store = driver.store(server.port(), PATIENT);
			assertThat(connections(server)).isEqualTo(before);
			acquire(store, "k", token());
			assertThat(connections(server)).isGreaterThan(before);
			store.close();
			await().until(() -> connections(server) == before);
			await().until(() -> ourThreads().isEmpty());
		}
	}

	@ParameterizedTest
	@EnumSource
	void closedStoreIsUnavailable(Driver driver) {
		RedisLockStore store = driver.store(RedisServer.shared().port(), PATIENT);
		acquire(store, "closed", token());
		store.close();
		store.close();
		org.assertj.core.api.Assertions.assertThatExceptionOfType(io.github.lockspring.LockUnavailableException.class)
			.isThrownBy(() -> acquire(store, "closed", token()));
	}

	@Test
	void leasesAreRenewedOnAClusterBehindAFactoryOfAnUnknownKind() {
		try (RedisCluster cluster = RedisCluster.start()) {
			RedisConnectionFactory known = Driver.LETTUCE.clusterFactory(cluster);
			start(known);
			try (RedisLockStore store = StoreFixture.store(unknown(known), PATIENT)) {
				List<RenewRequest> requests = new ArrayList<>();
				for (int i = 0; i < 20; i++) {
					OwnerToken token = token();
					assertThat(acquire(store, "k" + i, token)).isInstanceOf(Acquired.class);
					requests.add(new RenewRequest("k" + i, token, StoreFixture.TTL));
				}
				for (int i = 0; i < 2; i++) {
					assertThat(new JoinedStore(store).renew(requests, PATIENT)).hasSize(20)
						.containsOnly(RenewResult.RENEWED);
				}
			}
			stop(known);
		}
	}

	@Test
	void factoryOfAnUnknownKindIsUsedAsItIs() {
		RedisServer server = RedisServer.shared();
		server.flushAll();
		RedisConnectionFactory application = Driver.LETTUCE.factory(server.port());
		start(application);
		try (RedisLockStore store = StoreFixture.store(unknown(application), PATIENT)) {
			OwnerToken token = token();
			assertThat(acquire(store, "k", token)).isInstanceOf(Acquired.class);
			release(store, "k", token);
			assertThat(server.exists("lock:k")).isFalse();
		}
		assertThat(((LettuceConnectionFactory) application).isRunning()).isTrue();
		stop(application);
	}

	private static RedisConnectionFactory unknown(RedisConnectionFactory application) {
		return (RedisConnectionFactory) Proxy.newProxyInstance(ApplicationSettingsTests.class.getClassLoader(),
				new Class<?>[] { RedisConnectionFactory.class },
				(proxy, method, args) -> method.invoke(application, args));
	}

	private static List<String> ourThreads() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.map(Thread::getName)
			.filter((name) -> name.startsWith("lock-redis"))
			.toList();
	}

	private static long connections(RedisServer server) {
		return ((String) Objects.requireNonNull(server.command("CLIENT", "LIST"))).lines().count();
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

	private static void start(RedisConnectionFactory factory) {
		if (factory instanceof LettuceConnectionFactory lettuce) {
			lettuce.start();
		}
		else {
			((JedisConnectionFactory) factory).start();
		}
	}

	private static void stop(RedisConnectionFactory factory) {
		if (factory instanceof LettuceConnectionFactory lettuce) {
			lettuce.destroy();
		}
		else {
			((JedisConnectionFactory) factory).destroy();
		}
	}

}
